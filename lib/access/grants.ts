import { hash, randomBytes } from 'node:crypto'
import type { HistoryEntry } from '../core/history-entry.ts'
import { type SiteId, storedId } from '../core/ids.ts'

/** The port to what is known of tokens: a grant for each, under the SHA-256 of the token. Errors of every call: unavailable. */
export interface Grants {
  get(hash: string): Promise<Grant | undefined>
  /** A token belongs to the history of each site that it covers: one entry for each. */
  put(grant: Grant, entries: readonly HistoryEntry[]): Promise<void>
  /** Answers whether there was such a grant. */
  remove(hash: string, entries: readonly HistoryEntry[]): Promise<boolean>
  /**
   * Takes a site away from what a token covers, and the grant with the last of them. Answers false when the token does not cover the site, or is
   * not there.
   */
  uncover(hash: string, site: SiteId, entry: HistoryEntry): Promise<boolean>
  /** Every grant, in any order, for administration. */
  list(): AsyncIterable<Grant>
}

/** The permissions that a token can carry. `files` is "Can use SFTP & File Manager". */
export const permissions = ['files'] as const
export type Permission = (typeof permissions)[number]

/** What is known of a token. The token itself is never stored, only its SHA-256. */
export interface Grant {
  /** SHA-256 of the token, in hex: the stable name of one login. */
  readonly hash: string
  readonly user: string
  readonly sites: readonly SiteId[]
  readonly permissions: readonly Permission[]
  /** Epoch seconds. */
  readonly expires: number
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A grant as a store gives its members back. Throws an Error when a site has no id. */
export const storedGrant = (stored: Readonly<Partial<Record<keyof Grant, unknown>>>): Grant => {
  const granted = listed(stored.permissions)
  return {
    hash: String(stored.hash),
    user: String(stored.user),
    sites: listed(stored.sites).map((site) => storedId<SiteId>(site)),
    permissions: permissions.filter((permission) => granted.includes(permission)),
    expires: Number(stored.expires),
  }
}

/** 32 random bytes in hex (decisions.md, section 1). */
export const newToken = (): string => randomBytes(32).toString('hex')

export const hashToken = (token: string): string => hash('sha256', token, 'hex')

/** Whether the grant still holds at a moment in epoch milliseconds. */
export const isCurrent = (grant: Grant, now: number): boolean => grant.expires * 1000 > now
