import { type Clock, systemClock } from '../lib/clock.ts'
import type { Stores } from '../lib/stores.ts'
import { createCategoryLinks } from './category-links.ts'
import { createContents } from './contents.ts'
import type { Database } from './database.ts'
import { createGrants } from './grants.ts'
import { createFolderRemovals, createWorkflows } from './path-locks.ts'
import { createRemovalQueue, type LocalRemovalQueue } from './removal-queue.ts'
import { createSiteDirectory } from './site-directory.ts'
import { createUploadProgress } from './upload-progress.ts'
import { createWebForms } from './web-forms.ts'

/** Every port that is rows of the one database and nothing else: all but the files. */
export interface TableStores extends Omit<Stores, 'files'> {
  readonly removalQueue: LocalRemovalQueue
}

/** The tables have been prepared. */
export const createTableStores = (database: Database, clock: Clock = systemClock): TableStores => ({
  sites: createSiteDirectory(database),
  grants: createGrants(database),
  webForms: createWebForms(database),
  contents: createContents(database),
  links: createCategoryLinks(database),
  workflows: createWorkflows(database),
  removals: createFolderRemovals(database),
  removalQueue: createRemovalQueue(database, clock),
  progress: createUploadProgress(database, clock),
})
