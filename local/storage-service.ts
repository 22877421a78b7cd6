import { join } from 'node:path'
import { createStorageHandler } from '../functions/storage/group.ts'
import type { EdgeConfig, LocalStorageConfig } from '../lib/config.ts'
import { createStorageDeps } from '../lib/deps.ts'
import type { Telemetry } from '../lib/http/observe.ts'
import type { Handler } from '../lib/http/request.ts'
import { createPagesTable } from '../lib/storage/pages-table.ts'
import { continueRemoval } from '../lib/storage/remove.ts'
import type { DataDirectory } from './data-directory.ts'
import { type EmbeddedTables, embeddedTableNames } from './embedded-tables.ts'
import { openEmbeddedObjectStore } from './objects/embedded-object-store.ts'
import { openRemovalQueue } from './removal-queue.ts'

/** The file storage of a data directory, which all its data centres share. */
export interface StorageService {
  handlerOf(edge: EdgeConfig, telemetry: Telemetry): Handler
  close(): Promise<void>
}

/** Opens the files of the directory, and takes up the removals that an earlier server has left. The caller holds the lock. */
export const openStorageService = async (
  directory: DataDirectory,
  { documents }: EmbeddedTables,
  { FSYNC, ...config }: LocalStorageConfig,
): Promise<StorageService> => {
  const store = await openEmbeddedObjectStore(directory.objects, { durable: FSYNC === 'on' })
  const removals = openRemovalQueue(join(directory.objects, 'removals.db'))
  const pages = createPagesTable(documents, embeddedTableNames.pages)
  const worker = { store, pages, removals, reservedFolders: config.RESERVED_FOLDERS, now: Date.now }
  removals.start((task, slice) => continueRemoval(worker, task, Date.now() + slice))
  return {
    handlerOf: (edge, telemetry) =>
      createStorageHandler(
        createStorageDeps(
          { ...edge, ...config, PAGES_TABLE: embeddedTableNames.pages, UPLOADS_TABLE: embeddedTableNames.uploads },
          { documents, telemetry, store, removals },
        ),
      ),
    async close() {
      await removals.stop()
      store.close()
    },
  }
}
