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

// The part of the renderer's API that this file uses (https://github.com/swagger-api/swagger-ui, "Plugin API").
interface Renderer {
  readonly authActions: { restoreAuthorization(payload: { readonly authorized: unknown }): void }
  readonly specActions: {
    updateEmptyParamInclusion(operation: readonly [string, string], name: string, place: string, sent: boolean): void
  }
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
export const drawReference = (root: string): void => {
  const key = 'site-admin authorized'
  const sentByDefault: [string, string, Parameter][] = []

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
          if (parameter['x-sent-by-default']) sentByDefault.push([path, method, parameter])
        operation.parameters = parameters.map(unfilled)
      }
    }
    return spec
  }

  const at = (spec: Json, path: readonly string[]): Json =>
    path.reduce<Json>((node, name) => Object(node)[name] ?? null, spec)

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
    return { ...title, ...Object(resolved(spec, at(spec, path))), ...own }
  }

  const resolveSubtree = async (spec: Json, path: readonly string[]) => ({
    spec: resolved(spec, at(spec, path)),
    errors: [],
  })
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
      for (const [path, method, parameter] of sentByDefault) {
        page.specActions.updateEmptyParamInclusion([path, method], parameter.name, parameter.in, true)
      }
    },
  })
}
