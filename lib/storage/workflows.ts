import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { StoragePath } from './path.ts'

/** The port to running workflows of pages. Reads see earlier writes. Errors of every call: unavailable. */
export interface Workflows {
  start(site: SiteId, page: StoragePath, entry: HistoryEntry): Promise<void>
  end(site: SiteId, page: StoragePath, entry: HistoryEntry): Promise<boolean>
  isRunning(site: SiteId, pages: readonly StoragePath[]): Promise<boolean>
  isRunningBelow(site: SiteId, folder: StoragePath): Promise<boolean>
  /** Pages after this one in the order of their bytes, up to `limit`; fewer only at the end. */
  list(site: SiteId, after: StoragePath | undefined, limit: number): Promise<readonly StoragePath[]>
  clear(site: SiteId): Promise<void>
}
