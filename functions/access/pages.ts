import { largestPage, takeFitting } from '../../lib/core/answer-size.ts'
import { readCursor, writeCursor } from '../../lib/core/cursor.ts'
import { readSwitches } from '../../lib/http/operation.ts'
import type { Switches } from '../../lib/http/request.ts'

const mostItems = 500

type List = 'users' | 'keys'

const page = {
  schema: async () => (await import('../../lib/contract/request-parts.ts')).pageSwitches,
  malformed: 'accessMalformed',
} as const

/** `after` is the key of the last item of the previous page. Errors: accessMalformed. */
export const pageIn = (list: List) => async (query: Switches) => {
  const { limit = mostItems, cursor } = await readSwitches(query, ['limit', 'cursor'], page)
  const after = cursor ? readCursor(cursor, [list], page.malformed).after : ''
  return { limit: Math.min(limit, mostItems), after }
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
    next: isEnd ? {} : { nextCursor: writeCursor({ by: list, after: keyOf(last) }) },
  }
}
