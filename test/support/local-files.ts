import { mkdirSync } from 'node:fs'
import type { FolderRemovals } from '../../lib/storage/folder-removals.ts'
import { layoutOf } from '../../local/data-directory.ts'
import { type Database, openDatabase } from '../../local/database.ts'
import { createRecorder } from '../../local/history.ts'
import { openBlobs } from '../../local/objects/blobs.ts'
import { createObjectStore, type LocalObjectStore } from '../../local/objects/object-store.ts'
import { createFolderRemovals, createGoingFolders } from '../../local/path-locks.ts'
import { prepareSchema } from '../../local/schema.ts'

interface Options {
  readonly durable?: boolean
  /** Bytes, as the object store takes them. */
  readonly smallContent?: number
  readonly mostWaiting?: number
  /** The wall clock. */
  readonly now?: () => number
}

/** The object store of one machine, without the rest of it. */
export interface LocalFiles {
  readonly files: LocalObjectStore
  readonly removals: FolderRemovals
  readonly database: Database
  close(): void
}

export const openLocalFiles = (path: string, { durable = false, ...sizes }: Options = {}): LocalFiles => {
  mkdirSync(path, { recursive: true })
  const directory = layoutOf(path)
  const database = openDatabase(directory.database, { durable })
  prepareSchema(database.connection)
  const blobs = openBlobs(directory, { durable })
  const record = createRecorder(database.connection, Date.now)
  const isGoing = createGoingFolders(database.connection)
  const files = createObjectStore({ database, blobs, isGoing, record, ...sizes })
  return {
    files,
    removals: createFolderRemovals(database, record),
    database,
    close() {
      // What goes on in the background finds the database closed, and gives up.
      void files.stop()
      database.close()
      blobs.close()
    },
  }
}
