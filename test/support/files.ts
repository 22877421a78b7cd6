import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStorageHandler } from '../../functions/storage/group.ts'
import { createStorageDeps, type Resources, type StorageDeps } from '../../lib/deps.ts'
import type { Handler } from '../../lib/http/pipeline.ts'
import type { ObjectStore } from '../../lib/storage/object-store.ts'
import type { RemovalTask } from '../../lib/storage/removal-queue.ts'
import { openEmbeddedObjectStore } from '../../local/objects/embedded-object-store.ts'
import { keptContents } from './kept-contents.ts'
import type { TestTables } from './tables.ts'

/** The function of the file storage on embedded stores, in a folder of its own. */
export interface TestFiles {
  readonly handler: Handler
  readonly deps: StorageDeps
  /** What has been sent to the queue of removals. */
  readonly sent: readonly RemovalTask[]
  /** How many staged bodies lie about that no object refers to. */
  leftovers(): Promise<number>
  close(): Promise<void>
}

interface Options extends Resources {
  readonly names: TestTables['names']
  /** What stands between the function and its store: one that fails, maybe. */
  readonly wrap?: (store: ObjectStore) => ObjectStore
}

export const openTestFiles = async ({ wrap = (store) => store, names, ...resources }: Options): Promise<TestFiles> => {
  const folder = await mkdtemp(join(tmpdir(), 'site-admin-'))
  const store = await openEmbeddedObjectStore(folder, { durable: false })
  const sent: RemovalTask[] = []
  const config = {
    DATA_CENTRE: 'us',
    SITES_TABLE: names.sites,
    TOKENS_TABLE: names.tokens,
    PAGES_TABLE: names.pages,
    UPLOADS_TABLE: names.uploads,
    LARGEST_FILE: 4 * 1024 * 1024,
    RESERVED_FOLDERS: ['Templates'],
    LOG_LEVEL: 'INFO' as const,
  }
  const removals = { send: async (task: RemovalTask) => void sent.push(task) }
  const deps = createStorageDeps(config, { ...resources, store: wrap(store), removals })

  return {
    handler: createStorageHandler(deps),
    deps,
    sent,
    leftovers: async () => keptContents(folder).leftovers.length,
    async close() {
      store.close()
      await rm(folder, { recursive: true })
    },
  }
}
