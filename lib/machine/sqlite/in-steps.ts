import { setImmediate as giveWay } from 'node:timers/promises'
import type { Count } from '../../categories/contents.ts'

/** How many rows are read while everything else of the process waits. */
const step = 1_000
/** How many are counted: that reads keys alone. */
const countStep = 20_000

/**
 * Reads rows in the order of a key, up to `limit`, from behind `after` on: a step at a time, and everything else has its turn in
 * between. `read` answers fewer than it is asked for only at the end.
 */
export const readInSteps = async <Row, Key>(
  after: Key,
  limit: number,
  read: (after: Key, limit: number) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
): Promise<readonly Row[]> => {
  const rows: Row[] = []
  for (let last = after; rows.length < limit; await giveWay()) {
    const wanted = Math.min(step, limit - rows.length)
    const some = await read(last, wanted)
    for (const row of some) rows.push(row)
    const end = some.at(-1)
    if (end === undefined || some.length < wanted || rows.length === limit) break
    last = keyOf(end)
  }
  return rows
}

/** Counts in the same way. `read` answers a row with how many there are, and the key of the last one as `last`. */
export const countInSteps = async (
  after: number,
  limit: number,
  read: (after: number, limit: number) => Promise<Readonly<Record<string, unknown>> | undefined>,
): Promise<Count> => {
  let count = 0
  for (let last = after; ; await giveWay()) {
    const wanted = Math.min(countStep, limit - count)
    const row = await read(last, wanted)
    const counted = Number(row?.['count'] ?? 0)
    count += counted
    last = counted > 0 ? Number(row?.['last']) : last
    if (counted < wanted || count >= limit) return { count, last, ended: counted < wanted }
  }
}

/** Looks many values up, a step of them at a time, in the same way. */
export const inPieces = async <Value>(
  values: readonly Value[],
  handle: (piece: readonly Value[]) => Promise<void>,
): Promise<void> => {
  for (let from = 0; from < values.length; from += step) {
    if (from > 0) await giveWay()
    await handle(values.length > step ? values.slice(from, from + step) : values)
  }
}
