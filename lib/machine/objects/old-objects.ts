import type { DatabaseSync } from 'node:sqlite'
import type { Kept, ObjectVersion, Period, RemovedObject } from '../../storage/object-store.ts'
import { type Flag, prepareAll, query } from '../sqlite/queries.ts'
import { type ObjectRow, objectColumns } from './object-rows.ts'

interface RemovedRow {
  readonly key: string
  readonly size: number
  readonly gone: number
}

// Moments are in microseconds and unique, so they give the order of all changes. None is before the beginning of an open
// removal of a folder.
const perMillisecond = 1_000
const moment = `max(? * ${perMillisecond}, 1 + coalesce((SELECT max(gone) FROM old_objects), 0),
  ${perMillisecond} * coalesce((SELECT max(began) FROM folder_removals), 0))`

const columns = 'key, version, blob, size, modified, type, fingerprint'
const oldColumns = `version AS id, modified AS at, size, removed, gone / ${perMillisecond} AS goneAt`

const fewRows = 1_000

interface OldRow extends Omit<ObjectVersion, 'isCurrent' | 'isRemoved'> {
  readonly removed: Flag
}

const toVersion = ({ removed, ...row }: OldRow): ObjectVersion => ({
  ...row,
  isCurrent: false,
  isRemoved: removed === 1,
})

/**
 * Rows of replaced and removed objects. Each call runs one statement. To change several rows, callers use a
 * transaction. Callers identify a state by its `version`. Moments are in milliseconds since the epoch.
 */
export const createOldObjects = (connection: DatabaseSync, now: () => number) => {
  const objects = prepareAll(connection, {
    get: query<ObjectRow>(`SELECT ${objectColumns} FROM old_objects WHERE key = ? AND version = ?`),
    last: query<Pick<OldRow, 'id' | 'removed'>>(
      'SELECT version AS id, removed FROM old_objects WHERE key = ? ORDER BY gone DESC LIMIT 1',
    ),
    newest: query<OldRow>(`SELECT ${oldColumns} FROM old_objects WHERE key = ? ORDER BY gone DESC LIMIT +?`),
    older: query<OldRow>(`SELECT ${oldColumns} FROM old_objects
      WHERE key = ?1 AND gone < (SELECT gone FROM old_objects WHERE key = ?1 AND version = ?2)
      ORDER BY gone DESC LIMIT +?3`),
    removed: query<RemovedRow>(`SELECT key, size, max(gone) / ${perMillisecond} AS gone FROM old_objects AS old
      WHERE key >= ? AND key < ? AND removed = 1
        AND NOT EXISTS (SELECT 1 FROM objects WHERE objects.key = old.key) GROUP BY key ORDER BY key LIMIT +?`),
    lastRemoval: query<{ gone: number | null }>(`SELECT max(gone) / ${perMillisecond} AS gone FROM (
      SELECT gone FROM old_objects WHERE key >= ? AND key < ? AND removed = 1 ORDER BY key LIMIT ${fewRows})`),
    removedWithin: query<RemovedObject>(`SELECT key, version AS id, size, max(gone) FROM old_objects
      WHERE key >= ? AND key < ? AND removed = 1 AND gone BETWEEN ? AND ? GROUP BY key ORDER BY key LIMIT +?`),
    giveUp: query<{ blob: string | null }>(`DELETE FROM old_objects WHERE gone IN (
      SELECT gone FROM old_objects WHERE gone < ? ORDER BY gone LIMIT +?) RETURNING blob`),
    usage: query<Kept>(
      'SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM old_objects WHERE key >= ? AND key < ?',
    ),
    keep: `INSERT INTO old_objects (${columns}, gone, removed)
      SELECT ${columns}, ${moment}, ? FROM objects WHERE key = ?`,
    keepVersion: `INSERT INTO old_objects (${columns}, gone, removed)
      SELECT ${columns}, ${moment}, 1 FROM objects WHERE key = ? AND version = ?`,
    purge: query<{ blob: string | null; gone: number; removed: Flag }>(
      'DELETE FROM old_objects WHERE key = ? AND version = ? RETURNING blob, gone, removed',
    ),
    removeBefore: `UPDATE old_objects SET gone = ?2, removed = 1
      WHERE key = ?1 AND gone = (SELECT max(gone) FROM old_objects WHERE key = ?1 AND gone < ?2) AND removed = 0`,
    rename: 'UPDATE old_objects SET version = ?3 WHERE key = ?1 AND version = ?2',
  })

  return {
    keep: (key: string, isRemoved: boolean) => void objects.keep.run(now(), isRemoved ? 1 : 0, key),
    keepVersion: (key: string, version: string) => void objects.keepVersion.run(now(), key, version),
    forget: (key: string, version: string) => void objects.purge.all(key, version),
    /**
     * Returns where the bytes are. Empty if the version is not an old one. If the object was removed in this state, it
     * then counts as removed in the state before.
     */
    purge: (key: string, version: string): readonly (string | null)[] =>
      objects.purge.all(key, version).map(({ blob, gone, removed }) => {
        if (removed === 1) objects.removeBefore.run(key, gone)
        return blob
      }),
    rename: (key: string, version: string, name: string) => void objects.rename.run(key, version, name),

    get: (key: string, version: string): ObjectRow | undefined => objects.get.get(key, version),

    /** True if the object was removed in this state, and its key is still free. */
    isLast(key: string, version: string): boolean {
      const last = objects.last.get(key)
      return last?.id === version && last.removed === 1
    },

    /** The newest first, and only versions older than `after`. */
    of: (key: string, after: string | undefined, limit: number): readonly ObjectVersion[] =>
      (after === undefined ? objects.newest.all(key, limit) : objects.older.all(key, after, limit)).map(toVersion),

    /** The removed objects of a range, in the order of their keys. Leaves out objects whose key exists again. */
    removed: (from: string, end: string, limit: number): readonly RemovedRow[] => objects.removed.all(from, end, limit),

    /** Considers only the first thousand removed objects, in the order of their keys. */
    lastRemoval: (from: string, end: string): number => objects.lastRemoval.get(from, end)?.gone ?? 0,

    removedWithin: (from: string, end: string, period: Period, limit: number): readonly RemovedObject[] =>
      objects.removedWithin
        .all(from, end, period.from * perMillisecond, (period.to + 1) * perMillisecond - 1, limit)
        .map(({ key, id, size }) => ({ key, id, size })),

    giveUp: (before: number, limit: number): readonly (string | null)[] =>
      objects.giveUp.all(before * perMillisecond, limit).map(({ blob }) => blob),

    usage: (from: string, end: string): Kept => ({ count: 0, bytes: 0, ...objects.usage.get(from, end) }),
  }
}

export type OldObjects = ReturnType<typeof createOldObjects>
