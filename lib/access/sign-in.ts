import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { createTurns } from '../core/in-parallel.ts'
import { type Clock, inIso } from '../core/time.ts'
import { callerOf, type Grant, type Grants, hashToken, isCurrent, issueGrant, newToken } from './grants.ts'
import { type People, type Person, sitesOfPerson, updatePerson } from './people.ts'
import { countedAttempt, limitsOf, rememberSignIn, type SignInAttempts } from './sign-in-limits.ts'

const present = { memory: 19 * 1024, passes: 2, parallelism: 1, tagLength: 32 } as const

const presentPrefix = `$argon2id$v=19$m=${present.memory},t=${present.passes},p=${present.parallelism}$`

const derive = promisify<'argon2id', Argon2Parameters, Buffer>(argon2)

const hashShape = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

const inBase64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

const read = (phc: string) => {
  const [, memory, passes, parallelism, nonce, encodedTag] = hashShape.exec(phc) ?? []
  if (nonce === undefined || encodedTag === undefined) throw new Error('The format of a stored password is unknown')
  const tag = Buffer.from(encodedTag, 'base64')
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  return { tag, parameters: { ...cost, tagLength: tag.length, nonce: Buffer.from(nonce, 'base64') } }
}

const write = (nonce: Buffer, tag: Buffer): string => `${presentPrefix}${inBase64(nonce)}$${inBase64(tag)}`

/**
 * Hashing and reading files use the same threads. So only a few hashes are computed at once, and the other calls wait.
 * Errors: unavailable, if too many wait.
 */
const inTurn = createTurns({ atOnce: 2, mostWaiting: 50 })

const tagOf = (password: string, parameters: Omit<Argon2Parameters, 'message'>): Promise<Buffer> =>
  inTurn(() => derive('argon2id', { message: password.normalize('NFC'), ...parameters }))

export const hashPassword = async (password: string): Promise<string> => {
  const nonce = randomBytes(16)
  return write(nonce, await tagOf(password, { ...present, nonce }))
}

const [fewest, most] = [12, 256]
// A character of NFC has at most 6 code units in another form, and NFC of a long text takes long.
const mostTyped = 6 * most

// No password has this hash. A-66: a sign-in with a wrong name checks this hash, and so takes as much time as one with
// a wrong password.
const nobody = write(randomBytes(16), randomBytes(present.tagLength))

export const matchesPassword = async (password: string, stored: string | undefined): Promise<boolean> => {
  const { tag, parameters } = read(stored ?? nobody)
  const isEqual = timingSafeEqual(await tagOf(password.slice(0, mostTyped), parameters), tag)
  return isEqual && stored !== undefined && password.length <= mostTyped
}

const shortestName = 3

const weak = (reason: string): ServiceError =>
  new ServiceError('passwordWeak', { message: `The password ${reason}. Choose another password.` })

/** `names` has the name of the person and the names of the person's sites. Errors: passwordWeak. */
const checkPassword = (password: string, names: readonly string[]): void => {
  const text = password.slice(0, mostTyped + 1).normalize('NFC')
  const length = [...text].length
  if (length < fewest) throw weak(`has fewer than ${fewest} characters`)
  if (length > most) throw weak(`has more than ${most} characters`)
  const lower = text.toLowerCase()
  const isIn = (name: string) => [...name].length >= shortestName && lower.includes(name.toLowerCase())
  if (names.map((name) => name.normalize('NFC')).some(isIn)) throw weak('contains the name of the person or of a site')
}

export interface SignInDeps {
  readonly people: People
  readonly grants: Grants
  readonly attempts: SignInAttempts
  readonly findSite: (id: SiteId) => Promise<{ readonly name: string } | undefined>
  readonly clock: Pick<Clock, 'wall'>
}

interface Credentials {
  readonly username: string
  readonly password: string
  readonly address: string | undefined
}

/**
 * returns the person with this name and password. `message` replaces the usual message of a refusal.
 * Errors: signInRefused, tooManyRequests, unavailable.
 */
export const authenticatePerson = async (
  deps: SignInDeps,
  { username, password, address }: Credentials,
  known: Person | undefined,
  message?: string,
): Promise<Person> => {
  const now = deps.clock.wall()
  const person = await countedAttempt(deps.attempts, limitsOf(username, address, known, now), async () => {
    if ((await matchesPassword(password, known?.password)) && known && !known.disabled) return known
    throw new ServiceError('signInRefused', { message })
  })
  const remembered = rememberSignIn(person, address, now)
  const isOld = person.password?.startsWith(presentPrefix) === false
  const after = isOld ? { ...remembered, password: await hashPassword(password) } : remembered
  // If another change of the person came first, this sign-in is not recorded, but the session begins.
  const isStored = after !== person && (await deps.people.replace(person, after, []))
  return isStored ? { ...after, version: person.version + 1 } : person
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

/** only this session stays valid. Errors: tokenRejected, signInRefused, passwordWeak, tooManyRequests, unavailable. */
export const changePassword = async (deps: SignInDeps, session: Grant, credentials: Credentials, password: string) => {
  const known = await deps.people.get(credentials.username)
  if (!callerOf(session, known)) throw new ServiceError('tokenRejected')
  const wrong = 'The old password is wrong. Send your present password as oldPassword.'
  const person = await authenticatePerson(deps, credentials, known, wrong)
  const after = await withPassword(deps, person, password, session.parent ?? session.hash)
  if (!(await deps.people.replace(person, after, []))) throw new ServiceError('unavailable')
}

export const endSessions = async ({ people, clock }: SignInDeps, name: string): Promise<void> => {
  await updatePerson(people, name, (person) => ({ after: withoutSessions(person, clock.wall()) }))
}

/** A-14, in seconds. */
export const lifetimes = { short: 4 * 3600, long: 14 * 24 * 3600 } as const

type Period = keyof typeof lifetimes

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

const invitationLifetime = 7 * 24 * 3600

/** `text` is secret. `expires` is in epoch seconds. */
export interface Invitation {
  readonly text: string
  readonly expires: number
}

/** `url` is the base URL of the service. */
export const describeInvitation = (name: string, invitation: Invitation | undefined, url: string) => ({
  name,
  ...(invitation && {
    invitation: `${url}/console#invitation=${encodeURIComponent(invitation.text)}`,
    expires: inIso(invitation.expires),
  }),
})

/**
 * an invitation begins with the name of its person. So to accept an invitation, the service writes only the
 * record of this person.
 */
export const invite = (person: Person, now: number): { readonly person: Person; readonly invitation: Invitation } => {
  const secret = newToken()
  const expires = Math.floor(now / 1000) + invitationLifetime
  return {
    person: { ...person, invitation: { hash: hashToken(secret), expires } },
    invitation: { text: `${person.name}.${secret}`, expires },
  }
}

const invitationShape = /^(.{1,64})\.([0-9a-f]{64})$/

export const openInvitation = ({ invitation, disabled }: Person, now: number): Person['invitation'] =>
  invitation && !disabled && isCurrent(invitation, now) ? invitation : undefined

/**
 * Ends all sessions of the person and forgets all accounts at issuers, because somebody else may use them. Returns
 * the name of the person and the token of a new session. The session is stored first, and begins with the change of the
 * person. So the caller can repeat an acceptance that gets 503. Errors: invitationUnknown, passwordWeak, unavailable.
 */
export const acceptInvitation = async (
  deps: SignInDeps,
  text: string,
  acceptance: Omit<Credentials, 'username'>,
  period?: Period,
): Promise<{ readonly name: string; readonly token: string }> => {
  const now = deps.clock.wall()
  const [, name = '', secret = ''] = invitationShape.exec(text) ?? []
  const person = name === '' ? undefined : await deps.people.get(name)
  const invitation = person && openInvitation(person, now)
  // The duration of this comparison tells nothing: nobody can choose the hash of a guess.
  if (!invitation || invitation.hash !== hashToken(secret)) throw new ServiceError('invitationUnknown')
  const { identities: _, ...invited } = rememberSignIn(person, acceptance.address, now)
  const after = await withPassword(deps, invited, acceptance.password)
  const token = await beginSession(deps, after, period)
  const isStored = await deps.people.replace(person, after, [])
  // Another change came first. Or it came after this change, whose answer was lost.
  const isDone = isStored || (await deps.people.get(name))?.password === after.password
  return isDone ? { name: person.name, token } : acceptInvitation(deps, text, acceptance, period)
}
