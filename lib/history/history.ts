import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'

export interface Change extends HistoryEntry {
  // Larger than the positions of all earlier entries of the site. `at` is in milliseconds since the epoch.
  readonly position: number
  readonly at: number
}

export const keptFor = 90 * 24 * 3600 * 1000

/**
 * The port to the history of the sites. No entry ever appears before an entry that was already read, so reading on
 * after a position misses nothing and repeats nothing. Errors of every call: unavailable.
 */
export interface History {
  /** The entries after a position (0: all), the oldest first, up to `limit`. Only the last page has fewer. */
  after(site: SiteId, position: number, limit: number): Promise<readonly Change[]>
  /**
   * The last entries before a position, or of the whole history, the oldest first, up to `limit`. Only the first
   * entries of the history are fewer.
   */
  before(site: SiteId, position: number | undefined, limit: number): Promise<readonly Change[]>
  /** Calls `check` whenever the site may have new entries that are durable, until the returned function is called. */
  watch(site: SiteId, check: () => void): () => void
}
