import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { setRecent } from '../core/cached-lookup.ts'
import { ServiceError } from '../core/errors.ts'
import type { Author } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import { inParallel } from '../core/in-parallel.ts'
import { compareText } from '../core/names.ts'
import { type Right, simplified, textOfRight } from '../core/rights.ts'
import { dayOf, inIso } from '../core/time.ts'
import {
  callerOf,
  type Grant,
  type Grants,
  grantEntries,
  isCurrent,
  isGrantOfKey,
  issueGrant,
  type Key,
  rightsOn,
} from './grants.ts'
import type { People, Person } from './people.ts'

// `sak_`, then 43 letters and digits with 256 random bits, then 6 letters and digits with the CRC-32 of the rest.
const prefix = 'sak_'
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const shape = /^sak_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

const inBase62 = (number: bigint): string =>
  number === 0n ? '' : inBase62(number / 62n) + digits.charAt(Number(number % 62n))

const checksumOf = (secret: string): string => inBase62(BigInt(crc32(secret))).padStart(6, '0')

export const newKey = (): string => {
  const secret = inBase62(BigInt(`0x${randomBytes(32).toString('hex')}`)).padStart(43, '0')
  return prefix + secret + checksumOf(secret)
}

export const isKey = (text: string): boolean => {
  const [, secret, checksum] = shape.exec(text) ?? []
  return secret !== undefined && checksum === checksumOf(secret)
}

/** the reason to refuse a key before the service looks for it in the store. */
export const keyFault = (text: string, isInQuery: boolean): string | undefined => {
  if (!text.startsWith(prefix)) return undefined
  if (isInQuery) return 'Send a key only in the Authorization header. Revoke this key if others may read the address.'
  return isKey(text) ? undefined : 'The key has a typing error: its checksum does not match. Copy it again.'
}

const day = 24 * 3600

/** A-88, in seconds. */
export const keyLifetimes = { usual: 90 * day, longest: 365 * day } as const

const mostNoted = 10_000

/** stores the day of the last use of a key, once a day. If the write fails, the next use writes again. */
export const createUseLog = (grants: Pick<Grants, 'recordUse'>, now: () => number) => {
  const noted = new Map<string, string>()
  return async (grant: Grant): Promise<void> => {
    if (!isGrantOfKey(grant) || !isCurrent(grant, now())) return
    const { hash } = grant
    const today = dayOf(now())
    if (noted.get(hash) === today) return
    setRecent(noted, hash, today, mostNoted)
    await grants.recordUse(grant, today).catch(() => noted.delete(hash))
  }
}

/** Only this result contains the text of the key. `expires` is in epoch seconds. Errors: unavailable. */
export const issueKey = async (
  grants: Pick<Grants, 'put'>,
  maker: Pick<Person, 'name' | 'created'>,
  site: SiteId,
  { name, rights, expires }: Pick<Key, 'name' | 'expires'> & { readonly rights: readonly Right[] },
  author: Author,
) => {
  const permissions = simplified(rights).map(textOfRight)
  const { name: user, created: since } = maker
  const granted = { kind: 'key', user, since, name, sites: [site], permissions, expires } as const
  const { token: key, grant } = await issueGrant(grants, granted, author, newKey())
  return { id: grant.hash, key, name, rights: permissions, expires: inIso(expires) }
}

export const revokeKey = async (grants: Grants, site: SiteId, id: string, author: Author): Promise<void> => {
  const grant = /^[0-9a-f]{64}$/.test(id) ? await grants.get(id) : undefined
  if (!grant || !isGrantOfKey(grant) || grant.sites[0] !== site) throw new ServiceError('keyUnknown')
  // The result does not matter: if an answer was lost, a repeated removal finds no key.
  await grants.remove(id, grantEntries('removed', grant, author))
}

const peopleAtOnce = 16

export const orderOfKey = ({ name, hash }: Key): string => name + hash

export const currentKeys = async (grants: Grants, site: SiteId, now: number): Promise<readonly Key[]> => {
  const keys = (await grants.keysOf(site)).filter((key) => isCurrent(key, now))
  return keys.sort((one, other) => compareText(orderOfKey(one), orderOfKey(other)))
}

export const describeKeys = async ({ people }: { readonly people: Pick<People, 'get'> }, keys: readonly Key[]) => {
  const users = [...new Set(keys.map(({ user }) => user))]
  const found = new Map<string, Person | undefined>()
  await inParallel(users, peopleAtOnce, async (user) => void found.set(user, await people.get(user)))
  return keys.map((key) => {
    const { hash: id, name, user, sites, expires, lastUsed = null } = key
    const caller = callerOf(key, found.get(user))
    const rights = caller ? rightsOn(caller, sites[0] as SiteId).map(textOfRight) : []
    return { id, name, user, rights, expires: inIso(expires), lastUsed }
  })
}
