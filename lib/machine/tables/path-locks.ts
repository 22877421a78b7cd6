import type { DatabaseSync } from 'node:sqlite'
import { type Clock, systemClock } from '../../core/clock.ts'
import { refuseLate, unlimited } from '../../core/remaining-time.ts'
import { entryOfRemoval, type FolderRemovals, longestSilence, type RemovalTask } from '../../storage/folder-removals.ts'
import type { PlaceConditions } from '../../storage/object-store.ts'
import { root, type StoragePath, toStoragePath } from '../../storage/path.ts'
import type { Workflows } from '../../storage/workflows.ts'
import type { Database } from '../sqlite/database.ts'
import { readPages } from '../sqlite/paging.ts'
import type { RecordChange } from './history.ts'

/** What lies below a folder comes, in the order of the bytes of its path, from here on … */
const insideFolder = (folder: StoragePath): string => (folder === root ? '' : `${folder}/`)

/** … and before this: `0` follows `/`. Whatever is text comes before bytes. */
const behindFolder = (folder: StoragePath): string | Uint8Array => (folder === root ? new Uint8Array() : `${folder}0`)

/** Who has a removal, until when at the latest, and when somebody was last heard of it: all on the monotonic clock. */
interface Tending {
  readonly holder: string | undefined
  readonly until: number
  readonly heard: number
}

/**
 * The removals of folders that are going on, on one machine. What is placed asks in its own transaction whether one is open. Only the service
 * works on them: who has one is known to its process, and ends with it.
 */
export const createFolderRemovals = (
  { connection, read, write }: Database,
  record: RecordChange,
  { monotonic, wall }: Clock = systemClock,
): FolderRemovals => {
  const insert = connection.prepare(
    'INSERT INTO folder_removals (site, folder, id, entry, began) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const get = connection.prepare('SELECT id FROM folder_removals WHERE site = ? AND folder = ?')
  const remove = connection.prepare(
    'DELETE FROM folder_removals WHERE site = ? AND folder = ? AND id = ? RETURNING entry, removed, began',
  )
  const count = connection.prepare(
    'UPDATE folder_removals SET removed = removed + ? WHERE site = ? AND folder = ? AND id = ?',
  )
  const these = connection.prepare(
    'SELECT folder, id FROM folder_removals WHERE site = ? AND folder IN (SELECT value FROM json_each(?))',
  )
  const firstBelow = connection.prepare(
    'SELECT 1 FROM folder_removals WHERE site = ? AND folder >= ? AND folder < ? LIMIT 1',
  )
  const note = connection.prepare(
    'INSERT OR REPLACE INTO removed_folders (site, folder, began, ended) VALUES (?, ?, ?, ?)',
  )
  const last = connection.prepare(
    `SELECT began, ended FROM removed_folders WHERE site = ? AND folder IN (SELECT value FROM json_each(?)) ORDER BY ended DESC`,
  )
  const tended = new Map<string, Tending>()
  const nameOf = ({ site, path, id }: RemovalTask) => JSON.stringify([site, path, id])
  const noteIn = (task: RemovalTask, holder?: string, until = 0) => {
    tended.set(nameOf(task), { holder, until, heard: monotonic() })
  }

  const openOf: FolderRemovals['openOf'] = async (site, folders) => {
    const rows = await read(() => these.all(site, JSON.stringify(folders)))
    return rows.map(({ folder, id }) => {
      const task: RemovalTask = { site, path: toStoragePath(String(folder)), id: String(id) }
      const { heard = Number.NEGATIVE_INFINITY } = tended.get(nameOf(task)) ?? {}
      return { path: task.path, id: task.id, isTended: monotonic() - heard < longestSilence, isHold: false }
    })
  }

  return {
    async open(site, folder, id, entry, remainingTime = unlimited) {
      const opened = await write(() => {
        refuseLate(remainingTime)
        insert.run(site, folder, id, JSON.stringify(entry), wall())
        return String(get.get(site, folder)?.['id'])
      })
      if (opened === id) noteIn({ site, path: folder, id })
      return opened
    },

    async take(task, holder, duration) {
      const [removal] = await openOf(task.site, [task.path])
      if (removal?.id !== task.id) return { outcome: 'over' }
      const { holder: other, until = 0 } = tended.get(nameOf(task)) ?? {}
      const left = until - monotonic()
      if (other !== undefined && left > 0) return { outcome: 'held', holder: other, left }
      noteIn(task, holder, monotonic() + duration)
      return { outcome: 'taken' }
    },

    async giveBack(task, holder, removed) {
      if (tended.get(nameOf(task))?.holder !== holder) return
      const { site, path, id } = task
      if (removed > 0) await write(() => count.run(removed, site, path, id))
      noteIn(task)
    },

    async close(site, path, id, removed) {
      await write(() => {
        const row = remove.get(site, path, id)
        if (!row) return
        record(entryOfRemoval(JSON.parse(String(row['entry'])), Number(row['removed']) + removed))
        note.run(site, path, Number(row['began']), wall())
      })
      tended.delete(nameOf({ site, path, id }))
    },

    openOf,

    // A restore is one transaction: nothing comes in between.
    hold: async () => true,

    release: async () => {},

    // A removal that has to be noted is one transaction: no part of it goes by itself.
    note: async (site, folder, { from, to }, isPartial = false) => {
      if (!isPartial) await write(() => void note.run(site, folder, from, to))
    },

    async lastOf(site, folders) {
      const rows = await read(() => last.all(site, JSON.stringify(folders)))
      return rows.map(({ began, ended }) => ({ from: Number(began), to: Number(ended) }))
    },

    isOpenBelow: (site, folder) =>
      read(() => firstBelow.get(site, insideFolder(folder), behindFolder(folder)) !== undefined),
  }
}

/** Forgets when folders were removed that nothing is kept of any more. `before` is in milliseconds since the epoch. */
export const forgetRemovals = async ({ connection, write }: Database, before: number): Promise<void> => {
  const forget = connection.prepare('DELETE FROM removed_folders WHERE ended < ?')
  await write(() => void forget.run(before))
}

/** Whether a removal is open for one of these folders, as the transaction sees it in which something is placed there. */
export const createGoingFolders = (connection: DatabaseSync) => {
  const any = connection.prepare(
    'SELECT 1 FROM folder_removals WHERE site = ? AND folder IN (SELECT value FROM json_each(?)) LIMIT 1',
  )
  return ({ site, folders }: PlaceConditions['staying']): boolean =>
    any.get(site, JSON.stringify(folders)) !== undefined
}

/** The running workflows of pages, on one machine. */
export const createWorkflows = ({ connection, read, write }: Database, record: RecordChange): Workflows => {
  const insert = connection.prepare('INSERT INTO workflows (site, page) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const remove = connection.prepare('DELETE FROM workflows WHERE site = ? AND page = ?')
  const firstOf = connection.prepare(
    'SELECT 1 FROM workflows WHERE site = ? AND page IN (SELECT value FROM json_each(?)) LIMIT 1',
  )
  const behind = connection.prepare('SELECT page FROM workflows WHERE site = ? AND page > ? ORDER BY page LIMIT +?')
  const removeAll = connection.prepare('DELETE FROM workflows WHERE site = ?')
  const firstBelow = connection.prepare('SELECT 1 FROM workflows WHERE site = ? AND page >= ? AND page < ? LIMIT 1')

  return {
    start: (site, page, entry) =>
      write(() => {
        if (insert.run(site, page).changes === 1) record(entry)
      }),

    end: (site, page, entry) =>
      write(() => {
        if (remove.run(site, page).changes === 0) return false
        record(entry)
        return true
      }),

    isRunning: (site, pages) => read(() => firstOf.get(site, JSON.stringify(pages)) !== undefined),

    isRunningBelow: (site, folder) =>
      read(() => firstBelow.get(site, insideFolder(folder), behindFolder(folder)) !== undefined),

    list: (site, after = root, limit) =>
      readPages(
        after,
        limit,
        (last, some) => read(() => behind.all(site, last, some).map(({ page }) => toStoragePath(String(page)))),
        (page) => page,
      ),

    clear: (site) => write(() => void removeAll.run(site)),
  }
}
