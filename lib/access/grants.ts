import { hash, randomBytes } from 'node:crypto'
import type { HistoryEntry } from '../core/history-entry.ts'
import { type SiteId, storedId } from '../core/ids.ts'
import { hasSomewhere, parseRight, type Right, rightOf } from '../core/rights.ts'

/** The port to the grants. Each grant is found by the SHA-256 of its token. Errors of every call: unavailable. */
export interface Grants {
  get(hash: string): Promise<Grant | undefined>
  put(grant: Grant, entries: readonly HistoryEntry[]): Promise<void>
  remove(hash: string, entries: readonly HistoryEntry[]): Promise<boolean>
  /**
   * Removes a site from a grant; with its last site, removes the grant. False when the grant does not cover the site.
   */
  uncover(hash: string, site: SiteId, entry: HistoryEntry): Promise<boolean>
  list(): AsyncIterable<Grant>
}

// the permission that the original system calls "Can use SFTP & File Manager".
export const permissions = ['files'] as const
export type Permission = (typeof permissions)[number]

/**
 * `hash` is the SHA-256 of the token in hex; the token itself is never stored. `permissions` also has the texts
 * of rights. `expires`: epoch seconds.
 */
export interface Grant {
  readonly hash: string
  readonly user: string
  readonly sites: readonly SiteId[]
  readonly permissions: readonly string[]
  readonly expires: number
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const storedGrant = (stored: Readonly<Partial<Record<keyof Grant, unknown>>>): Grant => ({
  hash: String(stored.hash),
  user: String(stored.user),
  sites: listed(stored.sites).map((site) => storedId<SiteId>(site)),
  permissions: listed(stored.permissions).map(String),
  expires: Number(stored.expires),
})

export interface Caller extends Grant {
  readonly rights: readonly Right[]
  readonly hasOwnRights: boolean
}

// the contract gives every token the rights on fields and categories.
const usualRights = (['forms:write', 'categories:write', 'history:read'] as const).map(rightOf)

export const callerOf = (grant: Grant): Caller => {
  const hasOwnRights = grant.permissions.some((text) => text.includes(':'))
  const files = grant.permissions.includes('files') ? [rightOf('files:write')] : []
  const own = grant.permissions.map(parseRight).filter((right) => right !== undefined)
  return { ...grant, hasOwnRights, rights: [...files, ...(hasOwnRights ? own : usualRights)] }
}

/** `files` when the token has a right on any files. */
export const permissionsOf = ({ rights }: Pick<Caller, 'rights'>): readonly Permission[] =>
  hasSomewhere(rights, rightOf('files:read')) ? permissions : []

export const newToken = (): string => randomBytes(32).toString('hex')

export const hashToken = (token: string): string => hash('sha256', token, 'hex')

export const isCurrent = (grant: Grant, now: number): boolean => grant.expires * 1000 > now
