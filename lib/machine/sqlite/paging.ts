import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { Count } from '../../categories/contents.ts'

/** Rows that are read while everything else of the process waits. */
const pageSize = 1_000
const countPageSize = 20_000

/**
 * Reads up to `limit` rows behind `after` in the order of a key, page by page; everything else has its turn in between.
 * `read` answers fewer rows than asked for only at the end.
 */
export const readPages = async <Row, Key>(
  after: Key,
  limit: number,
  read: (after: Key, limit: number) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
): Promise<readonly Row[]> => {
  const rows: Row[] = []
  for (let last = after; rows.length < limit; await yieldTurn()) {
    const wanted = Math.min(pageSize, limit - rows.length)
    const page = await read(last, wanted)
    for (const row of page) rows.push(row)
    const end = page.at(-1)
    if (end === undefined || page.length < wanted || rows.length === limit) break
    last = keyOf(end)
  }
  return rows
}

/** Counts in the same way. `read` answers a row with the number of rows as `count`, and the last key as `last`. */
export const countPages = async (
  after: number,
  limit: number,
  read: (after: number, limit: number) => Promise<Readonly<Record<string, unknown>> | undefined>,
): Promise<Count> => {
  let count = 0
  for (let last = after; ; await yieldTurn()) {
    const wanted = Math.min(countPageSize, limit - count)
    const row = await read(last, wanted)
    const counted = Number(row?.['count'] ?? 0)
    count += counted
    last = counted > 0 ? Number(row?.['last']) : last
    if (counted < wanted || count >= limit) return { count, last, ended: counted < wanted }
  }
}

export const batchesOf = <Value>(values: readonly Value[], size: number): readonly (readonly Value[])[] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))

export const forEachBatch = async <Value>(
  values: readonly Value[],
  handle: (batch: readonly Value[]) => Promise<void>,
): Promise<void> => {
  for (const [index, batch] of batchesOf(values, pageSize).entries()) {
    if (index > 0) await yieldTurn()
    await handle(batch)
  }
}
