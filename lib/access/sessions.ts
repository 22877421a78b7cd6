import type { Clock } from '../core/clock.ts'
import type { SiteId } from '../core/ids.ts'
import { type Grant, type Grants, hashToken, newToken } from './grants.ts'
import { type Person, sitesOfPerson } from './people.ts'

/** A-14, in seconds. */
export const lifetimes = { short: 4 * 3600, long: 14 * 24 * 3600 } as const

export type Period = keyof typeof lifetimes

/** Returns the token of a new session on the sites of the person. Errors: unavailable. */
export const beginSession = async (
  { grants, clock }: { readonly grants: Pick<Grants, 'put'>; readonly clock: Pick<Clock, 'wall'> },
  person: Person,
  period: Period = 'long',
): Promise<string> => {
  const token = newToken()
  const expires = Math.floor(clock.wall() / 1000) + lifetimes[period]
  const owned = { user: person.name, sites: sitesOfPerson(person), permissions: [] }
  await grants.put({ hash: hashToken(token), ...owned, expires, kind: 'session', since: person.sessions }, [])
  return token
}

/** the new session ends together with the session of the sign-in. */
export const siteSession = async (
  grants: Grants,
  { hash, parent = hash, user, expires, since }: Grant,
  site: SiteId,
) => {
  const token = newToken()
  const owned = { user, sites: [site], permissions: [], expires, kind: 'session' as const, parent }
  await grants.put({ hash: hashToken(token), ...owned, ...(since !== undefined && { since }) }, [])
  return token
}
