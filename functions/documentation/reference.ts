import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type ReferenceAsset, referenceAssets } from '../../lib/contract/routes/documentation.ts'
import { cachedLookup } from '../../lib/core/cached-lookup.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import type { PublicOperation } from '../../lib/http/operation.ts'
import { type Reply, text } from '../../lib/http/reply.ts'
import { tagOfText } from '../../lib/http/representation.ts'
import { findHere } from '../../lib/http/resolve-site.ts'
import type { DocumentationDeps } from '../../lib/service/deps.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly example?: unknown
  readonly 'x-sent-by-default'?: boolean
}

interface OpenApi {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { parameters?: readonly Parameter[] }>>>>
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

type Inclusion = [operation: readonly [path: string, method: string], name: string, place: string, isSent: boolean]

// The part of the renderer's API that this file uses (https://github.com/swagger-api/swagger-ui, "Plugin API").
interface Renderer {
  readonly authActions: { restoreAuthorization(payload: { readonly authorized: unknown }): void }
  readonly specActions: { updateEmptyParamInclusion(...inclusion: Inclusion): void }
}

declare const SwaggerUIBundle: (options: object) => Renderer
declare const sessionStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void }

/**
 * Draws the reference. The page contains the text of this function, so the function refers to nothing outside of its
 * body. `root` is the relative address of the service. - The page sends requests only to the service: no third-party
 * check, no content network. - Optional parameters show their examples, but are not filled in. - Examples with an
 * address are left out, because the renderer would load them. - Each `$ref` is resolved here. The renderer would read
 * the whole document for each operation that is opened, which is three times slower. - The token stays in the tab. The
 * renderer would store it permanently.
 */
const drawReference = (root: string): void => {
  const key = 'site-admin authorized'
  const sentByDefault: Inclusion[] = []

  const unfilled = ({ example, ...parameter }: Parameter): Parameter => {
    if (parameter.required) return { ...parameter, example }
    if (example === undefined || example === '') return parameter
    return { ...parameter, description: `${parameter.description} For example \`${example}\`.` }
  }

  const withoutAddresses = (_: string, value: unknown) =>
    Object(value).externalValue === undefined ? value : undefined

  const forPeople = (written: OpenApi): OpenApi => {
    const spec: OpenApi = JSON.parse(JSON.stringify(written, withoutAddresses))
    for (const [path, operations] of Object.entries(spec.paths ?? {})) {
      for (const [method, operation] of Object.entries(operations)) {
        const { parameters = [] } = operation
        for (const parameter of parameters)
          if (parameter['x-sent-by-default']) sentByDefault.push([[path, method], parameter.name, parameter.in, true])
        operation.parameters = parameters.map(unfilled)
      }
    }
    return spec
  }

  // Each schema gets its name as its title. No reference of the document is circular.
  const resolved = (spec: Json, node: Json): Json => {
    if (Array.isArray(node)) return node.map((item) => resolved(spec, item))
    if (Object(node) !== node) return node
    const { $ref, ...members } = Object(node)
    const own = Object.fromEntries(
      Object.entries<Json>(members).map(([name, member]) => [name, resolved(spec, member)]),
    )
    if (typeof $ref !== 'string') return own
    const path = $ref.slice('#/'.length).split('/')
    const title = path[1] === 'schemas' && { title: path[2] }
    return { ...title, ...Object(resolvedAt(spec, path)), ...own }
  }
  const resolvedAt = (spec: Json, path: readonly string[]): Json => {
    const found = path.reduce<Json>((node, name) => Object(node)[name] ?? null, spec)
    return resolved(spec, found)
  }

  const resolveSubtree = async (spec: Json, path: readonly string[]) => ({ spec: resolvedAt(spec, path), errors: [] })
  const updateJsonSpec = (update: (spec: OpenApi) => unknown) => (spec: OpenApi) => update(forPeople(spec))
  const persistAuthorizationIfNeeded =
    (_: unknown, { authSelectors }: { readonly authSelectors: { authorized(): unknown } }) =>
    () =>
      sessionStorage.setItem(key, JSON.stringify(authSelectors.authorized()))
  const plugin = {
    fn: { resolveSubtree },
    statePlugins: {
      spec: { wrapActions: { updateJsonSpec } },
      auth: { wrapActions: { persistAuthorizationIfNeeded } },
    },
  }

  const page = SwaggerUIBundle({
    url: `${root}openapi.json`,
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'list',
    validatorUrl: null,
    plugins: [plugin],
    onComplete: () => {
      const kept = sessionStorage.getItem(key)
      if (kept) page.authActions.restoreAuthorization({ authorized: JSON.parse(kept) })
      for (const inclusion of sentByDefault) page.specActions.updateEmptyParamInclusion(...inclusion)
    },
  })
}

const script = (root: string) => `(${drawReference})(${JSON.stringify(root)})`

const page = (root: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>site-admin: reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}docs/swagger-ui.css">
</head>
<body>
<main id="reference"></main>
<script src="${root}docs/swagger-ui-bundle.js"></script>
<script>${script(root)}</script>
</body>
</html>
`

/** The Content-Security-Policy of a page: only its own scripts, styles and images, and the given sources. */
export const pagePolicy = (images: string, origins: string, scripts = '') =>
  [
    "default-src 'none'",
    `script-src 'self'${scripts}`,
    "style-src 'self'",
    `img-src 'self' ${images}`,
    `connect-src 'self' ${origins}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

export const getReference: PublicOperation<DocumentationDeps> = async ({ path }, { edge }) => {
  const root = path.endsWith('/') ? '../' : './'
  const ownScript = ` 'sha256-${hash('sha256', script(root), 'base64')}'`
  const policy = pagePolicy('data:', new URL((await findHere(edge)).url).origin, ownScript)
  return { ...text('text/html', page(root)), headers: { 'Content-Security-Policy': policy } }
}

// The generated document contains this address in place of the address of the data centre.
export const writtenAddress = 'http://127.0.0.1:4000'

const documentAt = cachedLookup(async (url: string): Promise<Reply> => {
  // The document is loaded with the first request for it, because no other operation needs it.
  const { default: written } = await import('../../docs/openapi.json', { with: { type: 'json' } })
  const json = JSON.stringify(written).replaceAll(writtenAddress, url)
  return text('application/json', json, tagOfText(json))
})

export const getOpenApi: PublicOperation<DocumentationDeps> = async (_, { edge }) =>
  documentAt((await findHere(edge)).url)

const isAsset = (name: string): name is ReferenceAsset => Object.hasOwn(referenceAssets, name)

const assetOf = cachedLookup(async (name: ReferenceAsset): Promise<Reply> => {
  const { file, type } = referenceAssets[name]
  const content = await readFile(fileURLToPath(import.meta.resolve(file)), 'utf8')
  return text(type, content, tagOfText(content))
})

/** A file of the reference page. 404/100004 for other names. */
export const getReferenceAsset: PublicOperation = async ({ params }) => {
  const name = params['asset'] ?? ''
  if (!isAsset(name)) throw new ServiceError('routeUnknown')
  return assetOf(name)
}
