import { largestPage, takeFitting } from '../../lib/core/answer-size.ts'
import { readCursor, writeCursor } from '../../lib/core/cursor.ts'
import { compareText } from '../../lib/core/names.ts'
import { readSwitches } from '../../lib/http/operation.ts'
import type { Switches } from '../../lib/http/request.ts'
import { bodyOf } from './bodies.ts'

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
  const count = takeFitting(views, (view) => view, largestPage).taken.length
  const last = rest[count - 1]
  const isEnd = last === undefined || count === rest.length
  return {
    views: views.slice(0, count),
    next: isEnd ? {} : { nextCursor: writeCursor({ by: list, after: keyOf(last) }) },
  }
}
