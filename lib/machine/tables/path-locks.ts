import type { DatabaseSync } from 'node:sqlite'
import { type HistoryEntry, withCount } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import type { Clock } from '../../core/time.ts'
import type { Period, PlaceConditions, RemovalTask, RemovedFolder } from '../../storage/object-store.ts'
import { root, type StoragePath } from '../../storage/path.ts'
import { type FolderRemovals, longestSilence, type OpenRemoval, type Workflows } from '../../storage/path-locks.ts'
import type { Database } from '../sqlite/database.ts'
import { all, column, exists, fromRow, one, prepareAll, readPages, value } from '../sqlite/queries.ts'
import { type RecordChange, recordIf } from './history.ts'

// The paths below a folder, from the first text up to the second: `0` follows `/`. In SQLite, texts sort before blobs.
const rangeBelow = (folder: StoragePath) => (folder === root ? ['', new Uint8Array()] : [`${folder}/`, `${folder}0`])

// The lease of a removal, and the time when its worker last reported, both on the monotonic clock.
interface Lease {
  readonly holder: string | undefined
  readonly until: number
  readonly heartbeat: number
}

/**
 * Records of removals, written within the transactions of changes. Their moments are in milliseconds, in the order of
 * all changes of files, because the clock may be set back. No earlier removal has the moment of `begin`. A
 * removal continues with the same object, to remove files that were replaced meanwhile.
 */
export const createRemovalRecords = (connection: DatabaseSync, wall: Clock['wall']) => {
  const { latest, insert, count } = prepareAll(connection, {
    latest: value<number | null>('SELECT max(gone) / 1000 FROM old_objects'),
    insert: 'INSERT OR REPLACE INTO removed_folders (site, folder, began, ended) VALUES (?, ?, ?, ?)',
    count: 'UPDATE folder_removals SET removed = removed + ? WHERE site = ? AND folder = ? AND id = ?',
  })
  const latestMoment = () => latest() ?? 0
  const beginnings = new WeakMap<RemovedFolder, number>()
  let begun = 0
  const now = () => Math.max(wall(), begun)
  return {
    now,

    begin(removal?: RemovedFolder): number {
      const before = removal && beginnings.get(removal)
      if (before !== undefined) return before
      begun = Math.max(wall(), latestMoment() + 1)
      if (removal) beginnings.set(removal, begun)
      return begun
    },

    count(removed: number, task?: RemovalTask): void {
      if (task) count(removed, task.site, task.path, task.id)
    },

    note: ({ site, folder, since }: RemovedFolder) => void insert(site, folder, since, Math.max(now(), latestMoment())),
  }
}

export const createFolderRemovals = (database: Database, record: RecordChange, clock: Clock): FolderRemovals => {
  const { connection, read, write } = database
  const { monotonic, wall } = clock
  const removals = prepareAll(connection, {
    remove: one(
      'DELETE FROM folder_removals WHERE site = ? AND folder = ? AND id = ? RETURNING entry, removed, began',
      fromRow<{ entry: HistoryEntry; removed: number; began: number }>({ entry: JSON.parse }),
    ),
    these: all<{ folder: StoragePath; id: string }>(
      'SELECT folder, id FROM folder_removals WHERE site = ? AND folder IN (SELECT value FROM json_each(?))',
    ),
    isAnyBelow: exists('SELECT 1 FROM folder_removals WHERE site = ? AND folder >= ? AND folder < ? LIMIT 1'),
    last: all<Period>(`SELECT began AS "from", ended AS "to" FROM removed_folders
      WHERE site = ? AND folder IN (SELECT value FROM json_each(?)) ORDER BY ended DESC`),
    insert:
      'INSERT INTO folder_removals (site, folder, id, entry, began) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  })
  const records = createRemovalRecords(connection, wall)
  // By the ids of removals. Only the service works on removals, because its process keeps the leases in memory.
  const leases = new Map<string, Lease>()
  const noteLease = (id: string, holder?: string, until = 0) =>
    leases.set(id, { holder, until, heartbeat: monotonic() })

  const openOf = async (site: SiteId, folders: readonly StoragePath[]): Promise<readonly OpenRemoval[]> => {
    const rows = await read(() => removals.these(site, folders))
    return rows.map(({ folder, id }) => {
      const { heartbeat = Number.NEGATIVE_INFINITY } = leases.get(id) ?? {}
      return { path: folder, id, hasWorker: monotonic() - heartbeat < longestSilence, isRestoreLock: false }
    })
  }

  return {
    async open(site, folder, id, entry, deadline) {
      const opened = await write(() => {
        deadline?.check()
        removals.insert(site, folder, id, entry, records.begin())
        return removals.these(site, [folder])[0]?.id ?? id
      })
      if (opened === id) noteLease(id)
      return opened
    },

    async take({ site, path, id }, holder, duration) {
      const [removal] = await openOf(site, [path])
      if (removal?.id !== id) return { outcome: 'gone' }
      const { holder: other, until = 0 } = leases.get(id) ?? {}
      const left = until - monotonic()
      if (other !== undefined && left > 0) return { outcome: 'held', holder: other, left }
      noteLease(id, holder, monotonic() + duration)
      return { outcome: 'taken' }
    },

    async giveBack({ id }, holder) {
      if (leases.get(id)?.holder === holder) noteLease(id)
    },

    async close(site, path, id) {
      await write(() => {
        const row = removals.remove(site, path, id)
        if (!row) return
        record(withCount(row.entry, row.removed))
        records.note({ site, folder: path, since: row.began })
      })
      leases.delete(id)
    },

    // Changes look for new removals in their own transactions, so no check afterwards needs the ids.
    locksOf: async (site, folders) => ({ open: await openOf(site, folders), ids: new Set() }),

    // A restore is one transaction, so it needs no lock.
    lock: async () => true,
    unlock: async () => {},
    note: async () => {},

    lastOf: (site, folders) => read(() => removals.last(site, folders)),

    isOpenBelow: (site, folder) => read(() => removals.isAnyBelow(site, ...rangeBelow(folder))),
  }
}

/** Returns, in the transaction of a change, whether a removal is open for one of its folders. */
export const createLockCheck = (connection: DatabaseSync) => {
  const isAny = exists(
    'SELECT 1 FROM folder_removals WHERE site = ? AND folder IN (SELECT value FROM json_each(?)) LIMIT 1',
  )(connection)
  return ({ site, folders }: PlaceConditions['unlocked']): boolean => isAny(site, folders)
}

export const createWorkflows = ({ connection, read, write }: Database, record: RecordChange): Workflows => {
  const { insert, remove, removeAll, isAny, isAnyBelow, behind } = prepareAll(connection, {
    insert: 'INSERT INTO workflows (site, page) VALUES (?, ?) ON CONFLICT DO NOTHING',
    remove: 'DELETE FROM workflows WHERE site = ? AND page = ?',
    removeAll: 'DELETE FROM workflows WHERE site = ?',
    isAny: exists('SELECT 1 FROM workflows WHERE site = ? AND page IN (SELECT value FROM json_each(?)) LIMIT 1'),
    isAnyBelow: exists('SELECT 1 FROM workflows WHERE site = ? AND page >= ? AND page < ? LIMIT 1'),
    behind: column<StoragePath>('SELECT page FROM workflows WHERE site = ? AND page > ? ORDER BY page LIMIT +?'),
  })

  return {
    start: (site, page, entry) => write(() => void recordIf(insert(site, page) === 1, record, entry)),

    end: (site, page, entry) => write(() => recordIf(remove(site, page) === 1, record, entry)),

    isRunning: (site, pages) => read(() => isAny(site, pages)),

    isRunningBelow: (site, folder) => read(() => isAnyBelow(site, ...rangeBelow(folder))),

    list: (site, after = root, limit) => readPages(read, behind, [site, after], String, limit),

    clear: (site) => write(() => void removeAll(site)),
  }
}
