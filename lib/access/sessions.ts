import type { SiteId } from '../core/ids.ts'
import type { Clock } from '../core/time.ts'
import { type Grant, type Grants, issueGrant } from './grants.ts'
import { type Person, sitesOfPerson } from './people.ts'

/** A-14, in seconds. */
export const lifetimes = { short: 4 * 3600, long: 14 * 24 * 3600 } as const

export type Period = keyof typeof lifetimes

const sessionOf = ({ name: user, sessions: since }: Person, sites: readonly SiteId[], expires: number) =>
  ({ user, sites, permissions: [], expires, kind: 'session', since }) as const

/** Returns the token of a new session on the sites of the person. Errors: unavailable. */
export const beginSession = async (
  { grants, clock }: { readonly grants: Pick<Grants, 'put'>; readonly clock: Pick<Clock, 'wall'> },
  person: Person,
  period: Period = 'long',
): Promise<string> => {
  const expires = Math.floor(clock.wall() / 1000) + lifetimes[period]
  return (await issueGrant(grants, sessionOf(person, sitesOfPerson(person), expires))).token
}

/** the new session ends together with the session of the sign-in. */
export const siteSession = async (
  grants: Grants,
  { hash, parent = hash, expires }: Grant,
  person: Person,
  site: SiteId,
): Promise<string> => (await issueGrant(grants, { ...sessionOf(person, [site], expires), parent })).token
