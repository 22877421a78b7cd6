import { hash, randomBytes } from 'node:crypto'
import type { Author, HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'

/**
 * The port to the grants. The SHA-256 of a token identifies its grant. `get` may return an old state if `isNewest` is
 * false (default: true). `change` stores the result of its function, or removes the grant if the function returns
 * undefined. `change` returns false if no grant has this hash, or if the function returns the same grant. `recordUse`
 * writes at most once a day. Errors of every call: unavailable.
 */
export interface Grants {
  get(hash: string, isNewest?: boolean): Promise<Grant | undefined>
  put(grant: Grant, entries: readonly HistoryEntry[]): Promise<void>
  remove(hash: string, entries: readonly HistoryEntry[]): Promise<boolean>
  change(
    hash: string,
    change: (grant: Grant) => ChangedGrant | undefined,
    entries: readonly HistoryEntry[],
  ): Promise<boolean>
  list(): Promise<readonly Grant[]>
  keysOf(site: SiteId): Promise<readonly Key[]>
  recordUse(key: Key, day: string): Promise<void>
}

type ChangedGrant = Pick<Grant, 'user' | 'sites' | 'since'>

// the permission that the original system calls "Can use SFTP & File Manager".
export const permissions = ['files'] as const
export type Permission = (typeof permissions)[number]

/**
 * `hash` is the SHA-256 of the token in hex; the token itself is never stored. `permissions` also contains
 * rights, written as texts such as `files:read`. `expires` is in epoch seconds. A token of the command `token issue` has
 * no `kind`. A session or key belongs to the person `user`. In a session, `since` is `Person.sessions` at its beginning.
 * In a key, `since` equals `Person.created`. Only a key has a `name` and, from `keysOf`, the day `lastUsed`. Only
 * a token for one site has a `parent`: the hash of the session with which the token ends.
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

export interface Key extends Grant {
  readonly kind: 'key'
  readonly since: number
  readonly name: string
  readonly lastUsed?: string
}

export const isGrantOfKey = (grant: Grant): grant is Key => grant.kind === 'key'

export const kindOf = ({ kind }: Pick<Grant, 'kind'>) => kind ?? 'token'

/** Only tokens can lose single sites. The history does not contain sessions. */
export const grantEntries = (
  fate: 'created' | 'changed' | 'removed',
  grant: Grant,
  author: Author,
): readonly HistoryEntry[] => {
  const { hash, user, sites } = grant
  const thing = kindOf(grant)
  if (thing === 'session') return []
  const type = fate === 'changed' ? 'token.changed' : (`${thing}.${fate}` as const)
  return sites.map((site) => ({ ...author, site, type, subject: `${thing}/${hash.slice(0, 12)}`, details: { user } }))
}

export const uncover = (grant: Grant, site: SiteId): Grant | undefined => {
  if (!grant.sites.includes(site)) return grant
  const sites = grant.sites.filter((other) => other !== site)
  return sites.length > 0 ? { ...grant, sites } : undefined
}

export const newToken = (): string => randomBytes(32).toString('hex')

export const hashToken = (token: string): string => hash('sha256', token, 'hex')

/** Only this result contains the token. Without an author, the history has no entry. Errors: unavailable. */
export const issueGrant = async (
  grants: Pick<Grants, 'put'>,
  granted: Omit<Grant, 'hash'>,
  author?: Author,
  token = newToken(),
) => {
  const grant = { ...granted, hash: hashToken(token) }
  await grants.put(grant, author ? grantEntries('created', grant, author) : [])
  return { token, grant }
}

export const isCurrent = (grant: Pick<Grant, 'expires'>, now: number): boolean => grant.expires * 1000 > now
