import { hash } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'
import { openInvitation } from '../invitations.ts'
import { isEmail, isPersonName, newPerson, type Person, personEntries, sitesOfPerson } from '../people.ts'
import { type SignInDeps, withoutSessions } from '../sign-in.ts'
import {
  type Claims,
  type Issuer,
  inOneLine,
  isForPeople,
  type KeyedValues,
  matchingRules,
  type Trust,
} from './issuers.ts'

interface IdentityDeps extends Pick<SignInDeps, 'people' | 'clock'> {
  readonly accessValues: KeyedValues
}

interface Arrived {
  readonly trust: Trust
  readonly issuer: Issuer
  readonly claims: Claims
  readonly requestId: string
}

const keyOf = (identity: string) => `identity/${identity}`

const has = (person: Person | undefined, identity: string): person is Person =>
  person?.identities?.includes(identity) ?? false

/** The remembered name may belong to another person now, so this also checks the record of the person. */
const findKnown = async ({ people, accessValues }: IdentityDeps, identity: string): Promise<Person | undefined> => {
  const name = await accessValues.get(keyOf(identity))
  const person = name === undefined ? undefined : await people.get(name)
  return has(person, identity) ? person : undefined
}

// Call this before you store the changed person: a later sign-in finds the person only through this value.
const remember = async ({ accessValues }: IdentityDeps, identity: string, name: string): Promise<void> => {
  if (await accessValues.put(keyOf(identity), name)) return
  await accessValues.take(keyOf(identity))
  await accessValues.put(keyOf(identity), name)
}

const entriesOf = (type: 'user.created' | 'user.changed', person: Person, { issuer, requestId }: Arrived) =>
  personEntries(type, person, { actor: person.name, requestId }, sitesOfPerson(person), { issuer: issuer.id })

const verifiedEmail = (claims: Claims): string | undefined => {
  const { email, email_verified: isVerified } = claims
  return isVerified === true && typeof email === 'string' && isEmail(email) ? email : undefined
}

/**
 * uses up an open invitation, and removes the old password and accounts: somebody else may know or use them.
 * Errors: unavailable, if another change came first, because a rule could add the same person again.
 */
const matchInvited = async (deps: IdentityDeps, arrived: Arrived, identity: string): Promise<Person | undefined> => {
  const email = verifiedEmail(arrived.claims)
  if (email === undefined) return undefined
  const now = deps.clock.wall()
  const [person, ...others] = (await deps.people.listOfEmail(email)).filter((one) => openInvitation(one, now))
  if (!person || others.length > 0) return undefined
  await remember(deps, identity, person.name)
  const { invitation: _, password: __, ...kept } = person
  const after = { ...withoutSessions(kept, now), identities: [identity] }
  const outcome = await deps.people.replace(person, after, entriesOf('user.changed', person, arrived))
  if (outcome !== 'done') throw new ServiceError('unavailable')
  return deps.people.get(person.name)
}

/**
 * The first rule of a site counts. Ignores the user name at the issuer, because another person may have this name
 * here.
 */
const createByRules = async (deps: IdentityDeps, arrived: Arrived, identity: string): Promise<Person | undefined> => {
  const { trust, issuer, claims } = arrived
  const rules = matchingRules(trust, issuer, claims).filter(isForPeople)
  if (rules.length === 0) return undefined
  const sites: Person['sites'] = Object.fromEntries(rules.toReversed().map(({ site, grants }) => [site, grants]))
  const email = verifiedEmail(claims) ?? ''
  for (const name of [email, `${issuer.id}-${identity.slice(0, 16)}`].filter(isPersonName)) {
    const displayName = typeof claims['name'] === 'string' ? inOneLine(claims['name']) : name
    const known = { name, displayName, email, sites }
    const person = { ...newPerson(known, deps.clock.wall()), identities: [identity] }
    await remember(deps, identity, name)
    if (await deps.people.create(person, entriesOf('user.created', person, arrived))) return person
    const other = await deps.people.get(name)
    if (has(other, identity)) return other
  }
  return undefined
}

/**
 * finds or creates the person for the claims of an issuer. Returns undefined if the claims allow no
 * sign-in. Errors: unavailable.
 */
export const findPerson = async (deps: IdentityDeps, arrived: Arrived): Promise<Person | undefined> => {
  const { issuer, claims } = arrived
  const identity = hash('sha256', JSON.stringify([issuer.url, String(claims['sub'])]), 'hex')
  return (
    (await findKnown(deps, identity)) ??
    (await matchInvited(deps, arrived, identity)) ??
    (await createByRules(deps, arrived, identity))
  )
}
