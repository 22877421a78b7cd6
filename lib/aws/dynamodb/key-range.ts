import type { Count } from '../../categories/contents.ts'
import { largestContentId } from '../../core/ids.ts'
import { type Attributes, type Query, queryPage, type Table } from './dynamodb.ts'

/** Items of one partition of a table or an index, in order of an id that their sort key holds. */
export interface KeyRange {
  readonly index?: string
  readonly partitionKey: string
  readonly partition: string | number
  readonly sortKey: string
  // Sort keys and ids sort alike.
  readonly sortKeyOf: (id: number) => string | number
  readonly idOf: (sortKey: unknown) => number
  // An index cannot be read consistently.
  readonly consistent?: boolean
}

// DynamoDB bounds a call too; a larger number only has to fit.
const mostPerCall = 1_000_000

const queryAfter = (range: KeyRange, after: number, limit: number): Query => ({
  index: range.index,
  where: `#${range.partitionKey} = :partition AND #${range.sortKey} BETWEEN :from AND :to`,
  values: {
    ':partition': range.partition,
    ':from': range.sortKeyOf(after + 1),
    ':to': range.sortKeyOf(largestContentId),
  },
  limit: Math.min(limit, mostPerCall),
  consistent: range.consistent ?? false,
})

/** The items after an id, in order, up to `limit`; fewer only at the end. It reads no more than it answers. */
export const readRange = async (
  table: Table,
  range: KeyRange,
  after: number,
  limit: number,
): Promise<readonly Attributes[]> => {
  const read: Attributes[] = []
  for (let from = after; read.length < limit && from < largestContentId; ) {
    const { items, last } = await queryPage(table, queryAfter(range, from, limit - read.length))
    for (const item of items) read.push(item)
    if (!last) break
    from = range.idOf(last[range.sortKey])
  }
  return read
}

/** Counts items without transferring them. */
export const countRange = async (table: Table, range: KeyRange, after: number, limit: number): Promise<Count> => {
  let total = 0
  let from = after
  while (total < limit && from < largestContentId) {
    const { count, last } = await queryPage(table, { ...queryAfter(range, from, limit - total), countOnly: true })
    total += count
    if (!last) return { count: total, last: from, ended: true }
    from = range.idOf(last[range.sortKey])
  }
  return { count: total, last: from, ended: from >= largestContentId }
}
