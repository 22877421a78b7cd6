import type { DatabaseSync } from 'node:sqlite'
import type { FolderRemovals } from '../lib/storage/folder-removals.ts'
import type { PlaceConditions } from '../lib/storage/object-store.ts'
import { root, type StoragePath, toStoragePath } from '../lib/storage/path.ts'
import type { Workflows } from '../lib/storage/workflows.ts'
import type { Database } from './database.ts'

/** What lies below a folder comes, in the order of the bytes of its path, from here on … */
const insideFolder = (folder: StoragePath): string => (folder === root ? '' : `${folder}/`)

/** … and before this: `0` follows `/`. Whatever is text comes before bytes. */
const behindFolder = (folder: StoragePath): string | Uint8Array => (folder === root ? new Uint8Array() : `${folder}0`)

/** The removals of folders that are going on, on one machine. What is placed asks in its own transaction whether one is open. */
export const createFolderRemovals = ({ connection, read, write }: Database): FolderRemovals => {
  const insert = connection.prepare(
    'INSERT INTO folder_removals (site, folder, id, entry) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const get = connection.prepare('SELECT id FROM folder_removals WHERE site = ? AND folder = ?')
  const remove = connection.prepare('DELETE FROM folder_removals WHERE site = ? AND folder = ? AND id = ?')
  const these = connection.prepare(
    'SELECT folder, id FROM folder_removals WHERE site = ? AND folder IN (SELECT value FROM json_each(?))',
  )
  const firstBelow = connection.prepare(
    'SELECT 1 FROM folder_removals WHERE site = ? AND folder >= ? AND folder < ? LIMIT 1',
  )

  return {
    open: (site, folder, id, entry) =>
      write(() => {
        insert.run(site, folder, id, JSON.stringify(entry))
        return String(get.get(site, folder)?.['id'])
      }),

    async close(site, folder, id) {
      await write(() => remove.run(site, folder, id))
    },

    openOf: (site, folders) =>
      read(() =>
        these
          .all(site, JSON.stringify(folders))
          .map(({ folder, id }) => ({ path: toStoragePath(String(folder)), id: String(id) })),
      ),

    isOpenBelow: (site, folder) =>
      read(() => firstBelow.get(site, insideFolder(folder), behindFolder(folder)) !== undefined),
  }
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
export const createWorkflows = ({ connection, read, write }: Database): Workflows => {
  const insert = connection.prepare('INSERT INTO workflows (site, page) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const remove = connection.prepare('DELETE FROM workflows WHERE site = ? AND page = ?')
  const firstOf = connection.prepare(
    'SELECT 1 FROM workflows WHERE site = ? AND page IN (SELECT value FROM json_each(?)) LIMIT 1',
  )
  const firstBelow = connection.prepare('SELECT 1 FROM workflows WHERE site = ? AND page >= ? AND page < ? LIMIT 1')

  return {
    async start(site, page) {
      await write(() => insert.run(site, page))
    },

    end: (site, page) => write(() => remove.run(site, page).changes === 1),

    isRunning: (site, pages) => read(() => firstOf.get(site, JSON.stringify(pages)) !== undefined),

    isRunningBelow: (site, folder) =>
      read(() => firstBelow.get(site, insideFolder(folder), behindFolder(folder)) !== undefined),
  }
}
