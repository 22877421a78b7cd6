import type { Count } from '../../categories/contents.ts'
import { largestContentId } from '../../core/ids.ts'
import { type Attributes, type Query, queryPages, type Table } from './dynamodb.ts'

/** Items of one partition of a table or an index, in order of the id in their sort key. */
export interface KeyRange {
  readonly above: (id: number) => Query
  readonly idOf: (key: Attributes) => number
}

export const countAbove = async <Item extends object>(
  table: Table<Item>,
  { above, idOf }: KeyRange,
  id: number,
  limit: number,
): Promise<Count> => {
  let [count, last] = [0, id]
  for await (const page of queryPages(table, { ...above(id), countOnly: true }, () => limit - count)) {
    count += page.count
    if (!page.last) return { count, last, ended: true }
    last = idOf(page.last)
  }
  return { count, last, ended: last >= largestContentId }
}
