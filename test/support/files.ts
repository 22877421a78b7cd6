import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStorageHandler } from '../../functions/storage/group.ts'
import { createStorageDeps, type Resources, type StorageDeps } from '../../lib/deps.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { ObjectStore } from '../../lib/storage/object-store.ts'
import type { PagesTable } from '../../lib/storage/pages-table.ts'
import type { RemovalQueue, RemovalTask } from '../../lib/storage/removal-queue.ts'
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

/** What stands between the function and its stores: something that fails, maybe, or that watches. */
export interface Between {
  readonly store?: (store: ObjectStore) => ObjectStore
  readonly pages?: (pages: PagesTable) => PagesTable
  readonly removals?: (removals: RemovalQueue) => RemovalQueue
}

interface Options extends Resources, Between {
  readonly names: TestTables['names']
}

export const openTestFiles = async ({
  store: wrapStore = (store) => store,
  pages: wrapPages = (pages) => pages,
  removals: wrapRemovals = (removals) => removals,
  names,
  ...resources
}: Options): Promise<TestFiles> => {
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
  const removals = wrapRemovals({ send: async (task) => void sent.push(task) })
  const created = createStorageDeps(config, { ...resources, store: wrapStore(store), removals })
  const deps = { ...created, pages: wrapPages(created.pages) }

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
