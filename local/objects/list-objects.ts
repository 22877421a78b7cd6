import type { ListedObject, Listing, ListQuery } from '../../lib/storage/object-store.ts'
import { behind, endOf, type ObjectRows } from './object-rows.ts'

/** How many rows one step reads: twice as many as the step before has shown, so that little is read of what a folder holds. */
const steps = { first: 256, least: 8, most: 1_001 } as const

type Entry = ListedObject | string

/** Objects as they are, and each folder once, by its key; the one that came last before these rows is left out. */
const fold = (rows: readonly ListedObject[], depth: number): Entry[] => {
  const entries: Entry[] = []
  let folder: string | undefined
  for (const row of rows) {
    if (folder !== undefined && row.key.startsWith(folder)) continue
    const slash = row.key.indexOf('/', depth)
    folder = slash < 0 ? undefined : row.key.slice(0, slash + 1)
    entries.push(folder ?? row)
  }
  return entries
}

/** Where what comes behind an entry begins: a folder is passed over with all that it holds. */
const behindEntry = (entry: Entry): string => (typeof entry === 'string' ? endOf(entry) : behind(entry.key))

/** So many objects and folders in the order of their keys. What lies in a folder is passed over, however much it is. */
const foldedEntries = (rows: ObjectRows, prefix: string, start: string, count: number): Entry[] => {
  const end = endOf(prefix)
  const entries: Entry[] = []
  let from = start
  let step: number = steps.first
  while (entries.length < count) {
    const read = rows.list(from, end, step)
    const found = fold(read, prefix.length)
    entries.push(...found)
    const last = found.at(-1)
    if (read.length < step || last === undefined) break
    from = behindEntry(last)
    step = Math.min(Math.max(found.length * 2, steps.least), steps.most)
  }
  return entries.slice(0, count)
}

const startOf = ({ prefix, folded, after }: ListQuery): string => {
  if (after === undefined) return prefix
  return folded && after.endsWith('/') && after !== prefix ? endOf(after) : behind(after)
}

export const listObjects = (rows: ObjectRows, query: ListQuery): Listing => {
  const { prefix, folded, limit } = query
  const start = startOf(query)
  // One more, to know whether it goes on.
  const found = folded ? foldedEntries(rows, prefix, start, limit + 1) : rows.list(start, endOf(prefix), limit + 1)
  const entries = found.slice(0, limit)
  const last = entries.at(-1)
  return {
    objects: entries.filter((entry) => typeof entry !== 'string'),
    folders: entries.filter((entry) => typeof entry === 'string'),
    next: found.length > limit && last !== undefined ? (typeof last === 'string' ? last : last.key) : undefined,
  }
}
