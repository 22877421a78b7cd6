import type { Clock } from '../lib/clock.ts'
import { continueRemoval } from '../lib/storage/remove.ts'
import type { Stores } from '../lib/stores.ts'
import { finishRemovals } from './contents.ts'
import type { DataDirectory } from './data-directory.ts'
import type { Database } from './database.ts'
import type { Role } from './directory-use.ts'
import { openBlobs } from './objects/blobs.ts'
import { createObjectStore } from './objects/object-store.ts'
import { type TidyReport, tidyBlobs } from './objects/tidy-blobs.ts'
import { createGoingFolders } from './path-locks.ts'
import { createTableStores, type TableStores } from './table-stores.ts'

/** Every port of the service, on one machine. */
export interface LocalStores extends Stores {
  /** What was found of the blobs, when the service has put them in order. */
  readonly tidied: TidyReport | undefined
  /** Lets what goes on in the background come to an end. */
  stop(): Promise<void>
}

interface Options {
  readonly directory: DataDirectory
  readonly database: Database
  readonly role: Role
  readonly durable: boolean
  readonly clock: Clock
}

/** What only the service does, which is there once: puts in order what an earlier one has left half done, and goes on with it. */
const putInOrder = async (
  { directory, database, clock }: Options,
  { removalQueue, removals }: TableStores,
  files: Stores['files'],
): Promise<TidyReport> => {
  const tidied = tidyBlobs(database.connection, directory, clock.wall())
  await finishRemovals(database)
  await removalQueue.start((task, slice) =>
    continueRemoval({ files, removals, clock }, task, clock.monotonic() + slice),
  )
  return tidied
}

/** The ports over an open database and the blobs beside it. */
export const openStores = async (options: Options): Promise<LocalStores> => {
  const { directory, database, role, durable, clock } = options
  const tables = createTableStores(database, clock)
  const blobs = openBlobs(directory, { durable })
  const files = createObjectStore({ database, blobs, isGoing: createGoingFolders(database.connection) })
  return {
    ...tables,
    files,
    tidied: role === 'service' ? await putInOrder(options, tables, files) : undefined,
    async stop() {
      await tables.removalQueue.stop()
      blobs.close()
    },
  }
}
