interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly example?: unknown
  readonly 'x-sent-at-first'?: boolean
}

interface OpenApi {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>>>
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** The used part of the renderer (https://github.com/swagger-api/swagger-ui, "Plugin API"). */
interface Renderer {
  readonly authActions: { restoreAuthorization(payload: { readonly authorized: unknown }): void }
  readonly specActions: {
    updateEmptyParamInclusion(operation: readonly [string, string], name: string, place: string, sent: boolean): void
  }
}

interface AuthSystem {
  readonly authSelectors: { authorized(): unknown }
}

declare const SwaggerUIBundle: (options: object) => Renderer
declare const sessionStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void }

/**
 * Draws the reference. It runs in the page, as text: it may use nothing from outside itself. `root` is the relative address of the service.
 * - Nothing is asked of anybody but the service: no check by a third party, no content network.
 * - What is optional is sent only when somebody asks for it: its example is shown, and not filled in.
 * - Examples that are shown by their address are left out: the renderer would load them, and this document is one of them, within itself.
 * - References are followed here: the renderer reads the whole document anew for each operation that is opened, and takes three times as long.
 * - The token is kept for the tab alone; the renderer itself would keep it for good.
 */
export const drawReference = (root: string): void => {
  const key = 'site-admin authorized'
  const sentAtFirst: [string, string, Parameter][] = []

  const unfilled = ({ example, ...parameter }: Parameter): Parameter => {
    if (parameter.required) return { ...parameter, example }
    if (example === undefined || example === '') return parameter
    return { ...parameter, description: `${parameter.description} For example \`${example}\`.` }
  }

  const withoutAddresses = (spec: OpenApi): OpenApi =>
    JSON.parse(JSON.stringify(spec, (_, value) => (Object(value).externalValue === undefined ? value : undefined)))

  const forPeople = (written: OpenApi): OpenApi => {
    const spec = withoutAddresses(written)
    if (!spec.paths) return spec
    const paths = Object.entries(spec.paths).map(([path, operations]) => {
      const drawn = Object.entries(operations).map(([method, operation]) => {
        const { parameters = [] } = operation
        for (const parameter of parameters) {
          if (parameter['x-sent-at-first']) sentAtFirst.push([path, method, parameter])
        }
        return [method, { ...operation, parameters: parameters.map(unfilled) }]
      })
      return [path, Object.fromEntries(drawn)]
    })
    return { ...spec, paths: Object.fromEntries(paths) }
  }

  const at = (spec: Json, path: readonly string[]): Json =>
    path.reduce<Json>((node, name) => Object(node)[name] ?? null, spec)

  /** Follows all references; schemas get their names as titles. No reference of the document leads back to itself. */
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

  const plugin = {
    fn: {
      resolveSubtree: async (spec: Json, path: readonly string[]) => ({
        spec: resolved(spec, at(spec, path)),
        errors: [],
      }),
    },
    statePlugins: {
      spec: {
        wrapActions: {
          updateJsonSpec: (update: (spec: OpenApi) => unknown) => (spec: OpenApi) => update(forPeople(spec)),
        },
      },
      auth: {
        wrapActions: {
          persistAuthorizationIfNeeded:
            (_: unknown, { authSelectors }: AuthSystem) =>
            () =>
              sessionStorage.setItem(key, JSON.stringify(authSelectors.authorized())),
        },
      },
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
      for (const [path, method, parameter] of sentAtFirst) {
        page.specActions.updateEmptyParamInclusion([path, method], parameter.name, parameter.in, true)
      }
    },
  })
}
