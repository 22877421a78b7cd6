import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { StoragePath } from './path.ts'

/**
 * The port to the running workflows of pages. What was started a moment ago is seen. Errors of every call: unavailable.
 */
export interface Workflows {
  start(site: SiteId, page: StoragePath, entry: HistoryEntry): Promise<void>
  /** Answers whether there was one. */
  end(site: SiteId, page: StoragePath, entry: HistoryEntry): Promise<boolean>
  isRunning(site: SiteId, pages: readonly StoragePath[]): Promise<boolean>
  isRunningBelow(site: SiteId, folder: StoragePath): Promise<boolean>
  /**
   * The pages with a running workflow behind this one, in the order of their bytes, up to `limit`; fewer only at the
   * end. Undefined begins.
   */
  list(site: SiteId, after: StoragePath | undefined, limit: number): Promise<readonly StoragePath[]>
  /** Ends all of a site: a step of the removal of the site. Repeating is safe. */
  clear(site: SiteId): Promise<void>
}
