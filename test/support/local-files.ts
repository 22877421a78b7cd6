import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../lib/clock.ts'
import type { FolderRemovals } from '../../lib/storage/folder-removals.ts'
import { type Database, openDatabase } from '../../local/database.ts'
import { createFolderRemovals } from '../../local/folder-removals.ts'
import { type OpenedObjectStore, openObjectStore } from '../../local/objects/object-store.ts'
import { prepareSchema } from '../../local/schema.ts'

type Options = Omit<Parameters<typeof openObjectStore>[0], 'database' | 'directory'>

/** The object store of one machine, without the rest of it. */
export interface LocalFiles extends OpenedObjectStore {
  readonly database: Database
  readonly removals: FolderRemovals
}

export const openLocalFiles = (path: string, options: Partial<Options> = {}): LocalFiles => {
  mkdirSync(path, { recursive: true })
  const { durable = false } = options
  const database = openDatabase(join(path, 'site-admin.db'), { durable })
  prepareSchema(database.connection)
  const directory = { blobs: join(path, 'blobs'), orphans: join(path, 'orphans') }
  const opened = openObjectStore({ role: 'service', clock: systemClock, ...options, directory, database, durable })
  return {
    ...opened,
    database,
    removals: createFolderRemovals(database),
    close() {
      opened.close()
      database.close()
    },
  }
}
