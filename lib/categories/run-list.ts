import { collectThatFit, type Json, largestPage, toJson } from '../core/answer-size.ts'
import { chunksOf } from '../core/chunks-of.ts'
import { choosePage, type Entry, type ListSource } from './choose-page.ts'
import type { Selection } from './query/fields.ts'
import type { Item } from './query/item-shape.ts'
import type { ListQuery } from './query/list-query.ts'

export interface ItemPage {
  readonly items: readonly Item[]
  readonly totalItemsCount: number | null
  readonly limit: number
  readonly skip?: number
  readonly nextCursor?: string | null
}

// A few long texts may fill an answer.
const textsAtOnce = 50

/** C-10: writes as many items as an answer can contain. `addTexts` reads their long texts, if those are selected. */
export const writeItems = async (
  items: readonly Item[],
  fields: Selection,
  addTexts?: (items: readonly Item[]) => Promise<readonly Item[]>,
): Promise<readonly Json<Item>[]> => {
  const { taken, add } = collectThatFit<Item>(largestPage)
  for (const some of chunksOf(items, textsAtOnce)) {
    const whole = addTexts ? await addTexts(some) : some
    if (!whole.every((item) => add(toJson(fields.select(item))))) break
  }
  return taken
}

const writePage = (items: readonly Json<Item>[], rest: Omit<ItemPage, 'items'>): Json<ItemPage> =>
  `{"items":[${items.join(',')}],${JSON.stringify(rest).slice(1)}` as Json<ItemPage>

/** Reads a page of a list as JSON. No request reads more than `longest` objects. Errors: listTooLong (C-11). */
export const runList = async <E extends Entry>(
  source: ListSource<E>,
  query: ListQuery,
  longest: number,
): Promise<Json<ItemPage>> => {
  const { matches, total, next } = await choosePage(source, query, longest)
  const read = matches.flatMap(({ item }) => (item ? [item] : []))
  const items = read.length === matches.length ? read : await source.items(matches.map(({ entry }) => entry))
  const shown = await source.write(items, query.fields)
  const last = items[shown.length - 1]
  const wasCut = last !== undefined && shown.length < items.length
  const limit = wasCut ? shown.length : query.limit
  if (query.paging.by === 'skip') return writePage(shown, { totalItemsCount: total, skip: query.paging.skip, limit })
  const rest = wasCut ? { behind: query.order.positionOf(last) } : next
  return writePage(shown, { totalItemsCount: total, nextCursor: rest && query.cursorBehind(rest.behind), limit })
}
