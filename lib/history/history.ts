import type { Change } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'

export const keptFor = 90 * 24 * 3600 * 1000

/**
 * The port to the history of the sites. No entry ever appears before an entry that was already read, so a reader that
 * continues after a position misses nothing and gets nothing twice. Errors of every call: unavailable.
 */
export interface History {
  /**
   * Returns up to `limit` entries after a position, the oldest first. Position 0 is the beginning. Only the last page
   * has fewer.
   */
  after(site: SiteId, position: number, limit: number): Promise<readonly Change[]>
  /**
   * Returns up to `limit` entries right before a position, the oldest first. Without a position, returns the last
   * entries of the history. Only the page at the beginning of the history has fewer.
   */
  before(site: SiteId, position: number | undefined, limit: number): Promise<readonly Change[]>
  /** Calls `check` whenever the site may have new durable entries, until the caller calls the returned function. */
  watch(site: SiteId, check: () => void): () => void
}
