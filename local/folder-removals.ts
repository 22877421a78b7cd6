import type { DatabaseSync } from 'node:sqlite'
import type { FolderRemovals } from '../lib/storage/folder-removals.ts'
import type { PlaceConditions } from '../lib/storage/object-store.ts'
import { toStoragePath } from '../lib/storage/path.ts'
import { behindFolder, insideFolder } from './below-folder.ts'
import type { Database } from './database.ts'

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
