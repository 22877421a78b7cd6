import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type ReferenceAsset, referenceAssets } from '../../lib/contract/documentation/reference-assets.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { tagOfText } from '../../lib/http/conditions.ts'
import type { PublicOperation } from '../../lib/http/operation.ts'
import { type Reply, text } from '../../lib/http/reply.ts'
import { findHere } from '../../lib/http/resolve-site.ts'
import type { DocumentationDeps } from '../../lib/service/deps.ts'
import { drawReference } from './draw-reference.ts'

/** Keeps one value per key, but forgets failures. */
export const onceEach = <Key, Value>(make: (key: Key) => Promise<Value>): ((key: Key) => Promise<Value>) => {
  const made = new Map<Key, Promise<Value>>()
  return (key) => {
    const known = made.get(key)
    if (known) return known
    const created = make(key)
    made.set(key, created)
    created.catch(() => made.delete(key))
    return created
  }
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
export const pagePolicy = (images: string, origins: Iterable<string>, scripts = '', ...more: readonly string[]) =>
  [
    "default-src 'none'",
    `script-src 'self'${scripts}`,
    "style-src 'self'",
    `img-src 'self' ${images}`,
    `connect-src 'self' ${[...new Set(origins)].join(' ')}`,
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", ...more],
  ].join('; ')

export const getReference: PublicOperation<DocumentationDeps> = async ({ path }, { edge }) => {
  const root = path.endsWith('/') ? '../' : './'
  const ownScript = ` 'sha256-${hash('sha256', script(root), 'base64')}'`
  const policy = pagePolicy('data:', [new URL((await findHere(edge)).url).origin], ownScript)
  return { ...text('text/html', page(root)), headers: { 'Content-Security-Policy': policy } }
}

// The generated document contains this address in place of the address of the data centre.
const writtenAddress = 'http://127.0.0.1:4000'

const documentAt = async (url: string): Promise<Reply> => {
  // The document is loaded with the first request for it, because no other operation needs it.
  const { default: written } = await import('../../docs/openapi.json', { with: { type: 'json' } })
  const json = JSON.stringify(written).replaceAll(writtenAddress, url)
  return text('application/json', json, tagOfText(json))
}

const replyAt = onceEach(documentAt)

export const getOpenApi: PublicOperation<DocumentationDeps> = async (_, { edge }) => replyAt((await findHere(edge)).url)

const isAsset = (name: string): name is ReferenceAsset => Object.hasOwn(referenceAssets, name)

const load = async (name: ReferenceAsset): Promise<Reply> => {
  const { file, type } = referenceAssets[name]
  const content = await readFile(fileURLToPath(import.meta.resolve(file)), 'utf8')
  return text(type, content, tagOfText(content))
}

const replyOf = onceEach(load)

/** A file of the reference page. 404/100004 for other names. */
export const getReferenceAsset: PublicOperation = async ({ params }) => {
  const name = params['asset'] ?? ''
  if (!isAsset(name)) throw new ServiceError('routeUnknown')
  return replyOf(name)
}
