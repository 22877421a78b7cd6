import { isLoopback } from '../../lib/core/addresses.ts'
import { countFitting } from '../../lib/core/answer-size.ts'
import { readCursor, writeCursor } from '../../lib/core/cursor.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { compareText } from '../../lib/core/names.ts'
import { bodiesOf, operationsOn, readSwitches } from '../../lib/http/operation.ts'
import type { Request, Switches } from '../../lib/http/request.ts'
import { findHere } from '../../lib/http/resolve-site.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'

export const operation = operationsOn<AccessDeps>()

export const schemas = () => import('../../lib/contract/access/bodies.ts')

export const bodyOf = bodiesOf({ schemas, malformed: 'accessMalformed' })

const mostItems = 500

type List = 'users' | 'keys'

/** `after` is the key of the last item of the previous page. Errors: accessMalformed. */
export const pageIn = (list: List) => async (query: Switches) => {
  const { limit = mostItems, cursor } = await readSwitches(query, ['limit', 'cursor'], bodyOf('pageSwitches'))
  const after = cursor ? readCursor(cursor, [list], 'accessMalformed').after : ''
  return { list, limit: Math.min(limit, mostItems), after }
}

type Page = Awaited<ReturnType<ReturnType<typeof pageIn>>>

/** `items` are in the order of their keys. The page has as many views as fit into an answer. */
export const pageOf = async <Item, View>(
  { list, limit, after }: Page,
  items: readonly Item[],
  keyOf: (item: Item) => string,
  viewsOf: (items: readonly Item[]) => readonly View[] | Promise<readonly View[]>,
) => {
  const rest = items.filter((item) => compareText(keyOf(item), after) > 0)
  const views = await viewsOf(rest.slice(0, limit))
  const count = countFitting(views, (view) => view)
  const last = rest[count - 1]
  const isEnd = last === undefined || count === rest.length
  return {
    views: views.slice(0, count),
    next: isEnd ? {} : { nextCursor: writeCursor({ by: list, after: keyOf(last) }) },
  }
}

const isPrivate = (url: string): boolean => {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''))
}

/** Errors: signInRefused. */
export const requireHttps = async ({ edge, insecureSignIn }: AccessDeps, { address }: Request): Promise<void> => {
  if (insecureSignIn || isLoopback(address) || isPrivate((await findHere(edge)).url)) return
  throw new ServiceError('signInRefused', {
    message:
      'The service accepts passwords only over https, except from its own machine. Use the https address. If the service has no https address, ' +
      'ask the operator to set --base-url, or --insecure-sign-in.',
  })
}
