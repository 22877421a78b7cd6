import type { DatabaseSync } from 'node:sqlite'
import { compareText } from '../../core/names.ts'
import {
  type Kept,
  longestListing,
  type ObjectStore,
  type ObjectVersion,
  type RemovedEntry,
  type RemovedObject,
} from '../../storage/object-store.ts'
import type { Database } from '../sqlite/database.ts'
import { all, column, type Flag, fromRow, one, prepareAll, value } from '../sqlite/queries.ts'
import { type Bodies, behind, endOf, folderIn, type ObjectRow, type ObjectRows, objectColumns } from './object-rows.ts'

// Moments are in microseconds and unique, so they give the order of all changes. None is before the beginning of an open
// removal of a folder.
const perMillisecond = 1_000
const moment = `max(? * ${perMillisecond}, 1 + coalesce((SELECT max(gone) FROM old_objects), 0),
  ${perMillisecond} * coalesce((SELECT max(began) FROM folder_removals), 0))`

const columns = 'key, version, blob, size, modified, type, fingerprint'
const oldColumns = `version AS id, modified AS at, size, 0 AS isCurrent, removed AS isRemoved,
  gone / ${perMillisecond} AS goneAt`

const versionOf = 'FROM old_objects WHERE key = ? AND version = ? ORDER BY gone DESC LIMIT 1'
const endOfTime = Number.MAX_SAFE_INTEGER

const rowsInPart = 10_000

const toVersion = fromRow<ObjectVersion>({ isCurrent: Boolean, isRemoved: Boolean })

/**
 * Rows of replaced and removed objects. To change several rows, callers use a transaction. Callers identify a state by
 * its `version`.
 */
export const createOldObjects = (connection: DatabaseSync, now: () => number) => {
  const objects = prepareAll(connection, {
    // No index has the versions, so SQLite looks at the newest first: most callers want one of these.
    get: one<ObjectRow>(`SELECT ${objectColumns} ${versionOf}`),
    momentOf: value<number>(`SELECT gone ${versionOf}`),
    /** Those before a moment, the newest first. */
    before: all(
      `SELECT ${oldColumns} FROM old_objects WHERE key = ? AND gone < ? ORDER BY gone DESC LIMIT +?`,
      toVersion,
    ),
    farther: value<string>(
      `SELECT key FROM old_objects WHERE key > ? AND key < ? ORDER BY key LIMIT 1 OFFSET ${rowsInPart}`,
    ),
    removed: all<RemovedEntry>(`SELECT key, size, max(gone) / ${perMillisecond} AS removedAt FROM old_objects AS old
      WHERE key >= ? AND key < ? AND removed = 1
        AND NOT EXISTS (SELECT 1 FROM objects WHERE objects.key = old.key) GROUP BY key ORDER BY key LIMIT +?`),
    lastRemoval: value<number | null>(`SELECT max(gone) / ${perMillisecond} FROM (
      SELECT gone, removed FROM old_objects WHERE key >= ? AND key < ? ORDER BY key LIMIT ${rowsInPart})
      WHERE removed = 1`),
    removedWithin: all(
      `SELECT key, version AS id, size, max(gone) FROM old_objects
       WHERE key >= ? AND key < ? AND removed = 1 AND gone BETWEEN ? AND ? GROUP BY key ORDER BY key LIMIT +?`,
      ({ key, id, size }: RemovedObject): RemovedObject => ({ key, id, size }),
    ),
    giveUp: column<string | null>(`DELETE FROM old_objects WHERE gone IN (
      SELECT gone FROM old_objects WHERE gone < ? * ${perMillisecond} ORDER BY gone LIMIT +?) RETURNING blob`),
    usage: one<Kept>(
      'SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM old_objects WHERE key >= ? AND key < ?',
    ),
    keep: `INSERT INTO old_objects (${columns}, gone, removed)
      SELECT ${columns}, ${moment}, ?2 FROM objects WHERE key = ?3 AND version = coalesce(?4, version)`,
    purge: all<Pick<ObjectRow, 'key' | 'blob'> & { gone: number; removed: Flag }>(
      `DELETE FROM old_objects WHERE (key, version) IN (SELECT value ->> 'key', value ->> 'id' FROM json_each(?))
       RETURNING key, blob, gone, removed`,
    ),
    forgetLast: 'DELETE FROM old_objects WHERE key = ?1 AND gone = (SELECT max(gone) FROM old_objects WHERE key = ?1)',
    removeBefore: `UPDATE old_objects SET gone = ?2, removed = 1
      WHERE key = ?1 AND gone = (SELECT max(gone) FROM old_objects WHERE key = ?1 AND gone < ?2) AND removed = 0`,
    rename: 'UPDATE old_objects SET version = ?3 WHERE key = ?1 AND version = ?2',
  })

  return {
    ...objects,
    keep: (key: string, isRemoved: boolean, version?: string) => void objects.keep(now(), isRemoved, key, version),
    /**
     * Returns where the bytes of the purged old versions are. If an object was removed in one of these states, it then
     * counts as removed in the state before.
     */
    purge(versions: readonly Pick<RemovedObject, 'key' | 'id'>[]): readonly (string | null)[] {
      const purged = objects.purge(versions)
      for (const { key, gone, removed } of purged.toSorted((one, other) => one.gone - other.gone))
        if (removed === 1) objects.removeBefore(key, gone)
      return purged.map(({ blob }) => blob)
    },

    /** True if the object was removed in this state, and its key is still free. */
    isLast(key: string, version: string): boolean {
      const [last] = objects.before(key, endOfTime, 1)
      return last?.id === version && last.isRemoved
    },

    endOfPart: (from: string, end: string): string => objects.farther(from, end) ?? end,
    lastRemoval: (from: string, end: string): number => objects.lastRemoval(from, end) ?? 0,
  }
}

export type OldObjects = ReturnType<typeof createOldObjects>

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
  for (const entry of found) {
    const { key } = entry
    if (compareText(key, from) < 0) continue
    const folder = folderIn(prefix, key)
    from = folder === undefined ? behind(key) : endOf(folder)
    if (folder === undefined) {
      if (key !== prefix) entries.push(entry)
    } else if (!rows.isAny(folder, from)) {
      entries.push({ key: folder, removedAt: Math.max(entry.removedAt, old.lastRemoval(folder, from)), size: null })
    }
  }
  if (found.length < step && compareText(from, end) < 0) from = end
  return { entries, next: from < endOf(prefix) ? from : undefined }
}

export const createVersions = ({ database, rows, old, bodies }: Deps) =>
  ({
    versions: (key, { after, limit }) =>
      database.read(() => {
        const row = rows.get(key)
        const isFromStart = after === undefined || after === row?.version
        const moment = isFromStart ? endOfTime : old.momentOf(key, after)
        if (moment === undefined) return undefined
        const current = row && after === undefined ? [currentVersion(row)] : []
        const found = [...current, ...old.before(key, moment, limit + 1)]
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

    keptBelow: (prefix) => database.read(() => ({ count: 0, bytes: 0, ...old.usage(prefix, endOf(prefix)) })),

    async *removedWithin(prefix, period) {
      const moments = [period.from * perMillisecond, (period.to + 1) * perMillisecond - 1]
      for (let from = prefix; from < endOf(prefix); ) {
        const [start, end] = [from, await database.read(() => old.endOfPart(from, endOf(prefix)))]
        const page = await database.read(
          () => old.removedWithin(start, end, ...moments, longestListing),
          longestListing,
        )
        yield page
        const latest = page.at(-1)
        from = latest && page.length === longestListing ? behind(latest.key) : end
      }
    },
  }) satisfies Pick<ObjectStore, 'versions' | 'readVersion' | 'listRemoved' | 'removedWithin' | 'keptBelow'>
