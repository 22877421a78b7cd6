import type { Json } from '../core/answer-size.ts'
import type { Item } from '../core/item-shape.ts'
import type { Entry, ListSource } from './excerpt.ts'
import { excerptOf, itemsOf } from './excerpt.ts'
import type { ListQuery } from './query/list-query.ts'

/** A page of a list, as the answer shows it (api.md, "Category association item"). */
export interface ItemPage {
  readonly items: readonly Item[]
  readonly totalItemsCount: number | null
  readonly limit: number
  readonly skip?: number
  /** Null at the end of the list. */
  readonly nextCursor?: string | null
}

/** Each item is written once: the page is put together from their texts. */
const writePage = (items: readonly Json<Item>[], rest: Omit<ItemPage, 'items'>): Json<ItemPage> =>
  `{"items":[${items.join(',')}],${JSON.stringify(rest).slice(1)}` as Json<ItemPage>

/**
 * Reads one page of a list, and writes it as JSON. Without `where` and `order` it reads the objects of the page and counts keys; a list
 * that is filtered or sorted reads its keys, and each object once when `where` or `order` names a member of them.
 * No request reads more than `longest` objects. Errors: listTooLong.
 */
export const runList = async <E extends Entry>(
  source: ListSource<E>,
  query: ListQuery,
  longest: number,
): Promise<Json<ItemPage>> => {
  const excerpt = await excerptOf(source, query, longest)
  const items = await itemsOf(source, excerpt.places)
  const shown = await source.write(items, query.fields)
  const last = items[shown.length - 1]
  const wasCut = last !== undefined && shown.length < items.length
  const limit = wasCut ? shown.length : query.limit
  const totalItemsCount = excerpt.total
  if (query.paging.by === 'skip') return writePage(shown, { totalItemsCount, skip: query.paging.skip, limit })
  const next = wasCut ? { behind: query.order.positionOf(last) } : excerpt.next
  return writePage(shown, { totalItemsCount, nextCursor: next && query.cursorBehind(next.behind), limit })
}
