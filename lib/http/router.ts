import type { Permission } from '../access/grants.ts'
import { ServiceError } from '../core/errors.ts'

export type Group = 'fields' | 'categories' | 'storage' | 'documentation'

/** A row of the route table, as the core reads it. */
export interface Route {
  readonly operation: string
  readonly method: string
  /** `{name}` stands for one segment, and `{name+}` at the end for all the rest, handed on percent-encoded, without slashes in front. */
  readonly path: string
  readonly group: Group
  /** What the token must permit; without it any token of the site will do. */
  readonly permission?: Permission
  /** Answered without a token, and belonging to no site. */
  readonly public?: boolean
  /** Whether every method is sent to another data centre with 308, whatever the group does otherwise. */
  readonly keepsMethod?: boolean
}

/** Whether a route is that of a site, which its path names then; the others are for every data centre. */
export const isOfSite = ({ path }: Pick<Route, 'path'>): boolean => path.includes('{site}')

interface Match<R extends Route> {
  readonly route: R
  /** Values of the path's variables, percent-decoded, but for a rest of the path. */
  readonly params: Readonly<Record<string, string>>
}

export interface Router<R extends Route> {
  /** Errors: routeUnknown; methodNotAllowed, with `Allow`. */
  match(method: string, path: string): Match<R>
  /** The methods that a path answers to; none for an unknown path. */
  methodsAt(path: string): readonly string[]
}

interface Pattern<R extends Route> {
  readonly expression: RegExp
  /** The variable that stands for the rest of the path, if there is one. */
  readonly rest: string | undefined
  readonly routes: Map<string, R>
  readonly methods: readonly string[]
}

const restVariable = /\/\{(\w+)\+\}$/

/** More slashes behind the first one, as clients write them that put one between what has one already. They are no part of the rest. */
const moreSlashes = '(?:/|%2[Ff])*'

/** How a path may end that has no rest: in slashes, where all the rest may be such. */
const endOf = (isFolder: boolean): string => (isFolder ? `(?:/${moreSlashes})?` : '/?')

/** A gateway hands over no slash where its prefix was asked for without one. */
const rootExpression = /^\/?$/

const compile = (template: string, isFolder: boolean): RegExp => {
  if (template === '/') return rootExpression
  return new RegExp(
    `^${template
      .replaceAll('.', '\\.')
      .replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')
      .replace(
        restVariable,
        `/${moreSlashes}(?<$1>(?!/|%2[Ff]).+)`,
      )}${restVariable.test(template) ? '' : endOf(isFolder)}$`,
    's',
  )
}

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new ServiceError('routeUnknown', {
      message: 'The path is not well-formed: a percent sign stands alone or its bytes are not UTF-8.',
    })
  }
}

/**
 * Finds the route of a path first and its method then, so that a known path with a wrong method is a 405 that names the right ones.
 */
export const createRouter = <R extends Route>(routes: readonly R[]): Router<R> => {
  const withRest = routes.map(({ path }) => path).filter((path) => restVariable.test(path))
  const folders = new Set(withRest.map((path) => path.replace(restVariable, '')))
  const patterns: Pattern<R>[] = [...Map.groupBy(routes, (route) => route.path)].map(([path, sharing]) => {
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
    match(method, path) {
      for (const { expression, rest, routes: byMethod, methods } of patterns) {
        const found = expression.exec(path)
        if (!found) continue
        const route = byMethod.get(method) ?? (method === 'HEAD' ? byMethod.get('GET') : undefined)
        if (!route) throw new ServiceError('methodNotAllowed', { headers: { Allow: methods.join(', ') } })
        const params = Object.entries(found.groups ?? {}).map(([name, value]) => [
          name,
          // Where a slash may be part of a value, only who knows the value can decode it.
          name === rest ? value : decode(value),
        ])
        return { route, params: Object.fromEntries(params) }
      }
      throw new ServiceError('routeUnknown')
    },

    methodsAt: (path) => patterns.find(({ expression }) => expression.test(path))?.methods ?? [],
  }
}
