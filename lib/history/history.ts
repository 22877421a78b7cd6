import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'

/** An entry of the history as it is kept. */
export interface Change extends HistoryEntry {
  /** Where it stands in the history of its site: a whole number, larger than those of all entries before it. */
  readonly position: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** How long entries are kept (decisions.md, section 10), in milliseconds. */
export const keptFor = 90 * 24 * 3600 * 1000

/**
 * The port to what has happened to the sites of a data centre. It is written to by the calls that change something. Whoever has read up
 * to an entry has seen all that stand before it, for none comes to be there later: reading on behind a position
 * misses nothing, and finds nothing twice. Errors of every call: unavailable.
 */
export interface History {
  /** The entries behind a position, 0 being before all of them: the oldest first, up to `limit`; fewer only at the end. */
  after(site: SiteId, position: number, limit: number): Promise<readonly Change[]>
  /** The last entries before a position, or of all: the oldest first, up to `limit`; fewer only at the beginning. */
  before(site: SiteId, position: number | undefined, limit: number): Promise<readonly Change[]>
}
