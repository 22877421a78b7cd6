import type { Count } from '../../categories/contents.ts'
import { largestContentId } from '../../core/ids.ts'
import { type Attributes, type Query, queryItems, queryPages, type Table } from './dynamodb.ts'

/** Items of one partition of a table or an index, in order of the id in their sort key. */
export interface KeyRange {
  readonly queryFrom: (first: number) => Query
  readonly idOf: (key: Attributes) => number
}

/**
 * Returns up to `limit` items with ids above `after`, sorted by id. Only the last page has fewer. Reads no more items
 * than it returns.
 */
export const readRange = async <Item extends object>(
  table: Table<Item>,
  { queryFrom }: KeyRange,
  after: number,
  limit: number,
): Promise<readonly Item[]> => (after < largestContentId ? queryItems(table, queryFrom(after + 1), limit) : [])

const pageLength = 1_000

export async function* rangePages<Item extends object>(table: Table<Item>, { queryFrom }: KeyRange) {
  for await (const { items } of queryPages(table, queryFrom(1), () => pageLength)) yield items
}

export const countRange = async <Item extends object>(
  table: Table<Item>,
  { queryFrom, idOf }: KeyRange,
  after: number,
  limit: number,
): Promise<Count> => {
  let [total, reached] = [0, after]
  if (after >= largestContentId) return { count: total, last: reached, ended: true }
  const query = { ...queryFrom(after + 1), countOnly: true }
  for await (const { count, last } of queryPages(table, query, () => limit - total)) {
    total += count
    if (!last) return { count: total, last: reached, ended: true }
    reached = idOf(last)
  }
  return { count: total, last: reached, ended: reached >= largestContentId }
}
