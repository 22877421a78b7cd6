import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import type { Clock } from '../core/time.ts'
import { type Grant, type Grants, issueGrant } from './grants.ts'
import { checkPassword, hashPassword, isOutdated, matchesPassword } from './passwords.ts'
import { type People, type Person, sitesOfPerson, updatePerson } from './people.ts'
import { countedAttempt, limitsOf, rememberSignIn, type SignInAttempts } from './sign-in-limits.ts'

export interface SignInDeps {
  readonly people: People
  readonly grants: Grants
  readonly attempts: SignInAttempts
  readonly findSite: (id: SiteId) => Promise<{ readonly name: string } | undefined>
  readonly clock: { readonly wall: () => number }
}

export interface Credentials {
  readonly username: string
  readonly password: string
  readonly address: string | undefined
}

const mostTyped = 1_000

const matches = async (password: string, person: Person | undefined): Promise<boolean> =>
  (await matchesPassword(password.slice(0, mostTyped), person?.password)) && password.length <= mostTyped

/**
 * returns the person with this name and password. Errors: signInRefused, tooManyRequests,
 * unavailable.
 */
export const authenticatePerson = async (
  deps: SignInDeps,
  { username, password, address }: Credentials,
  known: Person | undefined,
): Promise<Person> => {
  const now = deps.clock.wall()
  const person = await countedAttempt(deps.attempts, limitsOf(username, address, known, now), async () => {
    if ((await matches(password, known)) && known && !known.disabled) return known
    throw new ServiceError('signInRefused')
  })
  const remembered = rememberSignIn(person, address, now)
  const isOld = person.password !== undefined && isOutdated(person.password)
  const after = isOld ? { ...remembered, password: await hashPassword(password) } : remembered
  const outcome = after === person ? 'unchanged' : await deps.people.replace(person, after, [])
  // If another change of the person came first, this sign-in is not recorded, but the session begins.
  return outcome === 'done' ? { ...after, version: person.version + 1 } : person
}

/** Ends all sessions, because `sessions` becomes greater than the `since` of each. Only `keptSession` stays valid. */
export const withoutSessions = ({ keptSession: _, ...person }: Person, now: number, keptSession?: string): Person => ({
  ...person,
  sessions: Math.max(now, person.sessions + 1),
  ...(keptSession !== undefined && { keptSession }),
})

/** Sets a new password, and ends all sessions, except `keptSession`. Errors: passwordWeak, unavailable. */
export const withPassword = async (
  deps: Pick<SignInDeps, 'findSite' | 'clock'>,
  person: Person,
  password: string,
  keptSession?: string,
) => {
  const sites = await Promise.all(sitesOfPerson(person).map(deps.findSite))
  checkPassword(password, [person.name, ...sites.flatMap((site) => (site ? [site.name] : []))])
  const { invitation: _, ...others } = person
  const hashed = await hashPassword(password)
  return { ...withoutSessions(others, deps.clock.wall(), keptSession), password: hashed }
}

/** only the session with this hash stays valid. Errors: signInRefused, passwordWeak, tooManyRequests, unavailable. */
export const changePassword = async (deps: SignInDeps, hash: string, credentials: Credentials, password: string) => {
  const person = await authenticatePerson(deps, credentials, await deps.people.get(credentials.username))
  const after = await withPassword(deps, person, password, hash)
  const outcome = await deps.people.replace(person, after, [])
  if (outcome !== 'done') throw new ServiceError('unavailable')
}

export const endSessions = async ({ people, clock }: SignInDeps, name: string): Promise<void> => {
  await updatePerson(people, name, (person) => ({ after: withoutSessions(person, clock.wall()) }))
}

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
