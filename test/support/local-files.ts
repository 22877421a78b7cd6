import { mkdirSync } from 'node:fs'
import { layoutOf } from '../../lib/machine/directory/data-directory.ts'
import { openBlobs } from '../../lib/machine/objects/blobs.ts'
import { createObjectStore } from '../../lib/machine/objects/object-store.ts'
import { openDatabase } from '../../lib/machine/sqlite/database.ts'
import { prepareSchema } from '../../lib/machine/sqlite/schema.ts'
import { createRecorder } from '../../lib/machine/tables/history.ts'

interface Options {
  readonly durable?: boolean
  /** In bytes. Smaller content is kept in the database. */
  readonly smallContent?: number
  readonly mostWaiting?: number
  readonly now?: () => number
}

export const openLocalFiles = (path: string, { durable = false, ...sizes }: Options = {}) => {
  mkdirSync(path, { recursive: true })
  const directory = layoutOf(path)
  const database = openDatabase(directory.database, { durable })
  prepareSchema(database.connection)
  const blobs = openBlobs(directory, { durable })
  const record = createRecorder(database.connection, Date.now)
  const files = createObjectStore({ database, blobs, record, ...sizes })
  return {
    files,
    database,
    close() {
      // Background work ends when it finds that the database is closed.
      void files.stop()
      database.close()
      blobs.close()
    },
  }
}

export type LocalFiles = ReturnType<typeof openLocalFiles>
