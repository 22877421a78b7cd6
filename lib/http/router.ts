import { type ErrorName, ServiceError } from '../core/errors.ts'
import { malformedPath, percentDecoded } from '../core/names.ts'
import type { AreaRight } from '../core/rights.ts'
import type { Formats } from './request.ts'

export type Group = 'fields' | 'categories' | 'storage' | 'documentation' | 'access' | 'webhooks'

/**
 * In a path, `{name}` is one segment, and `{name+}` is the rest of the path, percent-encoded, without leading slashes.
 * Every operation of a site has a `right`, and no other operation has one. With `keepsMethod`, requests for
 * another data centre are redirected with 308, even in a group that redirects with 301. `formats` replaces the formats
 * of the group. A public route without `formats` answers JSON.
 */
export interface Route {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly group: Group
  readonly right?: AreaRight
  readonly public?: true
  readonly keepsMethod?: true
  readonly formats?: Formats
}

/** With `alwaysMovedPermanently`, changes are redirected with 301 too. Other groups redirect changes with 308. */
export interface GroupPolicy {
  readonly formats: Formats
  readonly renderingEngine?: true
  readonly tokenInQuery?: true
  readonly alwaysMovedPermanently?: true
  readonly siteUnknown: ErrorName
  readonly rightMissing: ErrorName
  readonly siteAmbiguous: ErrorName
}

const usualErrors = {
  siteUnknown: 'siteUnknown',
  siteAmbiguous: 'siteAmbiguous',
  rightMissing: 'rightMissing',
} as const

export const groupPolicies: Readonly<Record<Group, GroupPolicy>> = {
  fields: { formats: ['json', 'xml'], ...usualErrors },
  categories: { formats: ['json'], renderingEngine: true, ...usualErrors },
  storage: {
    formats: ['json'],
    tokenInQuery: true,
    alwaysMovedPermanently: true,
    siteUnknown: 'siteUnauthorized',
    siteAmbiguous: 'loginAmbiguous',
    rightMissing: 'privilegesMissing',
  },
  documentation: { formats: ['json'], ...usualErrors },
  access: { formats: ['json'], ...usualErrors },
  webhooks: { formats: ['json'], ...usualErrors },
}

const restVariable = /\/\{(\w+)\+\}$/

// Some clients add slashes to a path that already ends with one.
const moreSlashes = '(?:/|%2[Ff])*'

const compile = (template: string, isFolder: boolean): RegExp => {
  // When a caller requests the bare prefix, API Gateway passes on an empty path.
  if (template === '/') return /^\/?$/
  const source = template
    .replaceAll('.', '\\.')
    .replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')
    .replace(restVariable, `/${moreSlashes}(?<$1>(?!/|%2[Ff]).+)`)
  const folderEnd = isFolder ? `(?:/${moreSlashes})?` : '/?'
  return new RegExp(`^${source}${restVariable.test(template) ? '' : folderEnd}$`, 's')
}

/** matches the path first, so that a wrong method on a known path is a 405. */
export const createRouter = <R extends Route>(routes: readonly R[]) => {
  const withRest = routes.map(({ path }) => path).filter((path) => restVariable.test(path))
  const folders = new Set(withRest.map((path) => path.replace(restVariable, '')))
  const patterns = [...Map.groupBy(routes, (route) => route.path)].map(([path, sharing]) => {
    const methods = sharing.map(({ method }) => method)
    if (methods.includes('GET') && !methods.includes('HEAD')) methods.push('HEAD')
    return {
      expression: compile(path, folders.has(path)),
      rest: restVariable.exec(path)?.[1],
      routes: new Map(sharing.map((route) => [route.method, route])),
      methods: [...methods, 'OPTIONS'],
    }
  })

  return {
    match(method: string, path: string) {
      for (const { expression, rest, routes: byMethod, methods } of patterns) {
        const found = expression.exec(path)
        if (!found) continue
        const route = byMethod.get(method) ?? (method === 'HEAD' ? byMethod.get('GET') : undefined)
        if (!route) throw new ServiceError('methodNotAllowed', { headers: { Allow: methods.join(', ') } })
        const params = Object.entries(found.groups ?? {}).map(([name, value]): [string, string] => [
          name,
          // An encoded value may contain a slash, so each reader decodes the value itself.
          name === rest ? value : percentDecoded(value, () => malformedPath('routeUnknown')),
        ])
        return { route, params: Object.fromEntries(params) }
      }
      throw new ServiceError('routeUnknown')
    },

    methodsAt: (path: string): readonly string[] =>
      patterns.find(({ expression }) => expression.test(path))?.methods ?? [],
  }
}
