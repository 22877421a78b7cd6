import { hash, randomBytes } from 'node:crypto'
import type { HistoryEntry } from '../core/history-entry.ts'
import { type SiteId, storedId } from '../core/ids.ts'

/**
 * The port to the grants. The SHA-256 of a token identifies its grant. `handOver` returns false if no key has this
 * hash. `recordUse` writes at most once a day. Errors of every call: unavailable.
 */
export interface Grants {
  get(hash: string, isNewest?: boolean): Promise<Grant | undefined>
  put(grant: Grant, entries: readonly HistoryEntry[]): Promise<void>
  remove(hash: string, entries: readonly HistoryEntry[]): Promise<boolean>
  /**
   * Removes a site from a grant. If it was the last site, removes the grant. Returns false if the grant does not cover
   * the site.
   */
  uncover(hash: string, site: SiteId, entry: HistoryEntry): Promise<boolean>
  list(): AsyncIterable<Grant>
  keysOf(site: SiteId): Promise<readonly Key[]>
  handOver(hash: string, to: Pick<Key, 'user' | 'since'>, entries: readonly HistoryEntry[]): Promise<boolean>
  recordUse(key: Key, day: string): Promise<void>
}

// the permission that the original system calls "Can use SFTP & File Manager".
export const permissions = ['files'] as const
export type Permission = (typeof permissions)[number]

/**
 * `hash` is the SHA-256 of the token in hex; the token itself is never stored. `permissions` also contains
 * rights, written as texts such as `files:read`. `expires` is in epoch seconds. A session or key belongs to the person
 * `user`. In a session, `since` equals `Person.sessions`. In a key, `since` equals `Person.created`. Only a key has a
 * `name`. Only a token for one site has a `parent`: the hash of the session with which the token ends.
 */
export interface Grant {
  readonly hash: string
  readonly user: string
  readonly sites: readonly SiteId[]
  readonly permissions: readonly string[]
  readonly expires: number
  readonly kind?: 'session' | 'key'
  readonly since?: number
  readonly name?: string
  readonly parent?: string
}

/** `lastUsed` is a day. Only `keysOf` reads this day. */
export interface Key extends Grant {
  readonly kind: 'key'
  readonly since: number
  readonly name: string
  readonly lastUsed?: string
}

export const isGrantOfKey = (grant: Grant): grant is Key => grant.kind === 'key'

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const storedGrant = (stored: Readonly<Partial<Record<keyof Grant, unknown>>>): Grant => ({
  hash: String(stored.hash),
  user: String(stored.user),
  sites: listed(stored.sites).map((site) => storedId<SiteId>(site)),
  permissions: listed(stored.permissions).map(String),
  expires: Number(stored.expires),
  ...(stored.kind != null && { kind: stored.kind === 'key' ? 'key' : 'session', since: Number(stored.since) }),
  ...(stored.name != null && { name: String(stored.name) }),
  ...(stored.parent != null && { parent: String(stored.parent) }),
})

export const newToken = (): string => randomBytes(32).toString('hex')

export const hashToken = (token: string): string => hash('sha256', token, 'hex')

export const isCurrent = (grant: Pick<Grant, 'expires'>, now: number): boolean => grant.expires * 1000 > now
