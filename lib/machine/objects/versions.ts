import { compareText } from '../../core/names.ts'
import { longestListing, type ObjectStore, type ObjectVersion, type RemovedEntry } from '../../storage/object-store.ts'
import type { Database } from '../sqlite/database.ts'
import { type Bodies, behind, endOf, folderIn, type ObjectRow, type ObjectRows } from './object-rows.ts'
import type { OldObjects } from './old-objects.ts'

interface Deps {
  readonly database: Database
  readonly rows: ObjectRows
  readonly old: OldObjects
  readonly bodies: Bodies
}

const currentVersion = ({ version, modified, size }: ObjectRow): ObjectVersion => ({
  id: version,
  at: modified,
  size,
  isCurrent: true,
  isRemoved: false,
})

const step = 100

// Lists a removed object itself, or the folder that contained it, unless that folder exists.
const removedFrom = ({ rows, old }: Pick<Deps, 'rows' | 'old'>, prefix: string, start: string) => {
  const entries: RemovedEntry[] = []
  const end = old.endOfPart(start, endOf(prefix))
  const found = old.removed(start, end, step)
  let from = start
  for (const { key, size, gone } of found) {
    if (compareText(key, from) < 0) continue
    const folder = folderIn(prefix, key)
    from = folder === undefined ? behind(key) : endOf(folder)
    if (folder === undefined) {
      if (key !== prefix) entries.push({ key, removedAt: gone, size })
    } else if (!rows.isAny(folder, from)) {
      entries.push({ key: folder, removedAt: old.lastRemoval(folder, from), size: null })
    }
  }
  if (found.length < step && compareText(from, end) < 0) from = end
  return { entries, next: from < endOf(prefix) ? from : undefined }
}

export const createVersions = ({
  database,
  rows,
  old,
  bodies,
}: Deps): Pick<ObjectStore, 'versions' | 'readVersion' | 'listRemoved' | 'removedWithin' | 'keptBelow'> => ({
  versions: (key, { after, limit }) =>
    database.read(() => {
      const row = rows.get(key)
      if (after !== undefined && after !== row?.version && !old.get(key, after)) return undefined
      const current = row && after === undefined ? [currentVersion(row)] : []
      const found = [...current, ...old.of(key, after === row?.version ? undefined : after, limit + 1)]
      const versions = found.slice(0, limit)
      return { versions, next: found.length > limit ? versions.at(-1)?.id : undefined }
    }),

  readVersion(key, id, choose) {
    const find = () => {
      const present = rows.get(key)
      return present?.version === id ? present : old.get(key, id)
    }
    return bodies.read(find, choose, `an old version of ${key}`)
  },

  async listRemoved({ prefix, after, limit }) {
    const found: RemovedEntry[] = []
    let from = after === undefined ? prefix : after.endsWith('/') ? endOf(after) : behind(after)
    while (found.length <= limit) {
      const start = from
      const { entries, next } = await database.read(() => removedFrom({ rows, old }, prefix, start), longestListing)
      found.push(...entries)
      if (next === undefined) break
      from = next
    }
    const entries = found.slice(0, limit)
    return { entries, next: found.length > limit ? entries.at(-1)?.key : undefined }
  },

  keptBelow: (prefix) => database.read(() => old.usage(prefix, endOf(prefix))),

  async *removedWithin(prefix, period) {
    for (let from = prefix; from < endOf(prefix); ) {
      const [start, end] = [from, await database.read(() => old.endOfPart(from, endOf(prefix)))]
      const page = await database.read(() => old.removedWithin(start, end, period, longestListing), longestListing)
      yield page
      const latest = page.at(-1)
      from = latest && page.length === longestListing ? behind(latest.key) : end
    }
  },
})
