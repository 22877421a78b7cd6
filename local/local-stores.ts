import type { Clock } from '../lib/clock.ts'
import { continueRemoval } from '../lib/storage/remove.ts'
import type { Stores } from '../lib/stores.ts'
import { finishRemovals } from './contents.ts'
import type { DataDirectory } from './data-directory.ts'
import type { Database } from './database.ts'
import type { Role } from './directory-use.ts'
import { openObjectStore } from './objects/object-store.ts'
import type { DamagedObject } from './objects/tidy-blobs.ts'
import { createTableStores } from './table-stores.ts'

/** Every port of the service, on one machine. */
export interface LocalStores extends Stores {
  /** The files whose bytes are not there as they should be. Only the service looks for them. */
  readonly damaged: readonly DamagedObject[]
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

/**
 * The ports over an open database and the blobs beside it. The service, of which there is one, puts in order what an earlier one has left
 * half done, and goes on with it; commands leave that alone.
 */
export const openStores = async (options: Options): Promise<LocalStores> => {
  const { database, role, clock } = options
  const { removalQueue, ...tables } = createTableStores(database, clock)
  const { files, damaged, close } = openObjectStore(options)
  if (role === 'service') {
    await finishRemovals(database)
    const deps = { files, removals: tables.removals, clock }
    await removalQueue.start((task, slice) => continueRemoval(deps, task, clock.monotonic() + slice))
  }
  return {
    ...tables,
    removalQueue,
    files,
    damaged,
    async stop() {
      await removalQueue.stop()
      close()
    },
  }
}
