import type { HistoryEntry } from '../history-entry.ts'
import type { Grant } from './token.ts'

/** The port to what is known of tokens: a grant for each, under the SHA-256 of the token. Errors of every call: unavailable. */
export interface Grants {
  get(hash: string): Promise<Grant | undefined>
  /** A token belongs to the history of each site that it covers: one entry for each. */
  put(grant: Grant, entries: readonly HistoryEntry[]): Promise<void>
  /** Answers whether there was such a grant. */
  remove(hash: string, entries: readonly HistoryEntry[]): Promise<boolean>
  /** Every grant, in any order, for administration. */
  list(): AsyncIterable<Grant>
}
