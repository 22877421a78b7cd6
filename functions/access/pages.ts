import { largestPage, takeFitting } from '../../lib/core/answer-size.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import type { Switches } from '../../lib/http/request.ts'

const mostItems = 500

type List = 'users' | 'keys'

const cursorAt = (list: List, key: string): string => Buffer.from(`${list} ${key}`).toString('base64url')

const keyAt = (list: List, cursor: string): string => {
  const key = Buffer.from(cursor, 'base64url').toString().slice(`${list} `.length)
  if (cursor === '' || cursorAt(list, key) === cursor) return key
  throw new ServiceError('accessMalformed', { message: 'This cursor belongs to another list. List again without it.' })
}

/** `after` is the key of the last item of the previous page. Errors: accessMalformed. */
export const pageIn =
  (list: List) =>
  async (query: Switches): Promise<{ readonly limit: number; readonly after: string }> => {
    if (!query.has('limit') && !query.has('cursor')) return { limit: mostItems, after: '' }
    const [{ validate }, { pageSwitches }] = await Promise.all([
      import('../../lib/http/validate.ts'),
      import('../../lib/contract/request-parts.ts'),
    ])
    const given = { limit: query.get('limit'), cursor: query.get('cursor') }
    const { limit = mostItems, cursor = '' } = validate(pageSwitches, given, 'accessMalformed')
    return { limit: Math.min(limit, mostItems), after: keyAt(list, cursor) }
  }

/** Returns as many views as fit into an answer. `rest` begins with the items of all `views`. */
export const pageOf = <Item, View>(
  list: List,
  rest: readonly Item[],
  views: readonly View[],
  keyOf: (item: Item) => string,
) => {
  const count = takeFitting(views, (view) => view, largestPage).taken.length
  const last = rest[count - 1]
  const isEnd = last === undefined || count === rest.length
  return {
    views: views.slice(0, count),
    next: isEnd ? {} : { nextCursor: cursorAt(list, keyOf(last)) },
  }
}
