import type { Count } from '../../categories/contents.ts'
import { largestContentId } from '../../core/ids.ts'
import { expression, type Query, queryItems, queryPages, type Table } from './dynamodb.ts'

/** Items of one partition of a table or an index, in order of the id in their sort key. */
export interface KeyRange {
  readonly index?: string
  readonly partitionKey: string
  readonly partition: string | number
  readonly sortKey: string
  readonly sortKeyOf: (id: number) => string | number
  readonly idOf: (sortKey: unknown) => number
  readonly consistent?: boolean
}

export const rangeOfIds = (partitionKey: string, partition: string, consistent = false): KeyRange => ({
  partitionKey,
  partition,
  sortKey: 'id',
  sortKeyOf: (id) => id,
  idOf: Number,
  consistent,
})

const queryAfter = (range: KeyRange, after: number): Query => ({
  index: range.index,
  where: [
    expression([`#${range.partitionKey} = `, ''], range.partition),
    expression([`#${range.sortKey} BETWEEN `, ' AND ', ''], ...[after + 1, largestContentId].map(range.sortKeyOf)),
  ],
  consistent: range.consistent ?? false,
})

/**
 * Returns up to `limit` items with ids above `after`, sorted by id. Only the last page has fewer. Reads no more items
 * than it returns.
 */
export const readRange = async <Item extends object>(
  table: Table<Item>,
  range: KeyRange,
  after: number,
  limit: number,
): Promise<readonly Item[]> => (after < largestContentId ? queryItems(table, queryAfter(range, after), limit) : [])

const pageLength = 1_000

export async function* rangePages<Item extends object>(
  table: Table<Item>,
  range: KeyRange,
): AsyncGenerator<readonly Item[], void> {
  for await (const { items } of queryPages(table, queryAfter(range, 0), () => pageLength)) yield items
}

export const countRange = async <Item extends object>(
  table: Table<Item>,
  range: KeyRange,
  after: number,
  limit: number,
): Promise<Count> => {
  if (after >= largestContentId) return { count: 0, last: after, ended: true }
  let total = 0
  let reached = after
  const query = { ...queryAfter(range, after), countOnly: true }
  for await (const { count, last } of queryPages(table, query, () => limit - total)) {
    total += count
    if (!last) return { count: total, last: reached, ended: true }
    reached = range.idOf(last[range.sortKey])
  }
  return { count: total, last: reached, ended: reached >= largestContentId }
}
