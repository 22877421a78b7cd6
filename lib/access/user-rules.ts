import { isDeepStrictEqual } from 'node:util'
import { ServiceError } from '../core/errors.ts'
import type { Author } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import { definedMembers } from '../core/names.ts'
import { includesRight, requireRight, rightOf } from '../core/rights.ts'
import { type Caller, rightsOn } from './grants.ts'
import {
  canSignIn,
  isPersonName,
  newPerson,
  type Person,
  personEntries,
  personNameRule,
  rightsOfEntry,
  type SiteEntry,
  sitesOfPerson,
  updatePerson,
  withoutSite,
} from './people.ts'
import { type Invitation, invite, type SignInDeps, withPassword } from './sign-in.ts'

export interface Manager {
  readonly site: { readonly id: SiteId }
  readonly caller: Pick<Caller, 'rightsBySite'>
  readonly author: Author
  readonly checkState?: (person: Person) => void
}

type UserDeps = Pick<SignInDeps, 'people' | 'clock' | 'findSite'>

export interface UserCreation {
  readonly name: string
  readonly displayName?: string | undefined
  readonly email?: string | undefined
  readonly sites: Person['sites']
  readonly password?: string | undefined
}

export interface UserChange extends Pick<UserCreation, 'displayName' | 'email' | 'password'> {
  readonly entry?: SiteEntry | undefined
  readonly disabled?: boolean | undefined
  readonly invite?: true | undefined
}

// In bytes. DynamoDB stores a person in one item, and an item has at most 400 KB.
const largestRecord = 200_000

const requireGrantable = ({ caller }: Manager, sites: Person['sites']): void => {
  for (const site of sitesOfPerson({ sites }))
    for (const right of rightsOfEntry(sites[site])) requireRight(rightsOn(caller, site), right, 'rightMissing')
}

const rightToManage = rightOf('access:write')

const hasEveryRight = ({ caller }: Manager, person: Person): boolean =>
  sitesOfPerson(person).every((site) => {
    const rights = rightsOfEntry(person.sites[site])
    const needed = rights.length > 0 ? rights : [rightToManage]
    return needed.every((right) => includesRight(rightsOn(caller, site), right))
  })

const moreRights = {
  message:
    'You lack a right that this person has on this or another site. Ask somebody who has all rights of the person.',
}

const ofSite = (person: Person | undefined, site: SiteId): Person => {
  if (person?.sites[site] === undefined) throw new ServiceError('personUnknown')
  return person
}

// the sender of an open invitation knows its link, and may lack the new rights.
const withSites = (person: Person, sites: Person['sites']): Person => {
  const { invitation: _, ...withoutInvitation } = person
  const all = { ...person.sites, ...sites }
  const kept = canSignIn(person) && !isDeepStrictEqual(all, person.sites) ? withoutInvitation : person
  const changed = { ...kept, sites: all }
  if (Buffer.byteLength(JSON.stringify(changed)) <= largestRecord) return changed
  throw new ServiceError('accessMalformed', {
    message: 'The person has too many sites or rights. Give a role instead of single rights.',
  })
}

const withSignIn = async (
  deps: UserDeps,
  person: Person,
  password: string | undefined,
  isInvited = false,
): Promise<{ readonly person: Person; readonly invitation?: Invitation }> => {
  if (password !== undefined) return { person: await withPassword(deps, person, password) }
  return isInvited ? invite(person, deps.clock.wall()) : { person }
}

// an earlier address may come from a manager who lacks the present rights of the person.
const bindEmail = (person: Person, email: string | undefined): Person =>
  person.invitation && email ? { ...person, invitation: { ...person.invitation, byEmail: true } } : person

/** Adds sites to a person who has other sites. The person needs no invitation. Errors: personTaken. */
const joinSites = async ({ people }: UserDeps, { author }: Manager, { name, sites, password }: UserCreation) => {
  const added = sitesOfPerson({ sites })
  const joined = await updatePerson(people, name, (person) => {
    if (person.name !== name || added.some((site) => person.sites[site] !== undefined))
      throw new ServiceError('personTaken')
    if (password !== undefined) {
      const message = `${name} already exists, and the password was not changed. Add sites without a password.`
      throw new ServiceError('personTaken', { message })
    }
    return { after: withSites(person, sites), entries: personEntries('user.created', person, author, added) }
  })
  if (!joined) throw new ServiceError('unavailable')
  return joined
}

/** Errors: accessMalformed, passwordWeak, rightMissing, personTaken, unavailable. */
export const addUser = async (deps: UserDeps, manager: Manager, user: UserCreation) => {
  if (!isPersonName(user.name)) throw new ServiceError('accessMalformed', { message: `name: it ${personNameRule}.` })
  requireGrantable(manager, user.sites)
  const { name, displayName = name, email = '', sites, password } = user
  const person = withSites(newPerson({ name, displayName, email, sites: {} }, deps.clock.wall()), sites)
  const added = await withSignIn(deps, person, password, true)
  const entries = personEntries('user.created', person, manager.author, sitesOfPerson(person))
  if (await deps.people.create(bindEmail(added.person, email), entries)) return added
  return { person: await joinSites(deps, manager, user) }
}

/**
 * Errors: personUnknown, rightMissing, accessMalformed, passwordWeak, lastOwner,
 * unavailable.
 */
export const changeUser = async (deps: UserDeps, manager: Manager, name: string, change: UserChange) => {
  const site = manager.site.id
  const { entry, invite: again, displayName, email, disabled, password } = change
  const sites: Person['sites'] = entry ? { [site]: entry } : {}
  const details = definedMembers({ displayName, email, disabled })
  const isOfWholePerson = again || password !== undefined || Object.keys(details).length > 0
  let invitation: Invitation | undefined
  const person = await updatePerson(deps.people, name, async (before) => {
    ofSite(before, site)
    requireGrantable(manager, sites)
    if (isOfWholePerson && !hasEveryRight(manager, before)) throw new ServiceError('rightMissing', moreRights)
    manager.checkState?.(before)
    const changed = { ...(entry ? withSites(before, sites) : before), ...details }
    if (again && changed.disabled) {
      const message = 'A disabled person cannot accept an invitation. Enable the person first.'
      throw new ServiceError('accessMalformed', { message })
    }
    const renewed = await withSignIn(deps, changed, password, again)
    invitation = renewed.invitation
    const type = invitation ? 'user.invited' : 'user.changed'
    const affected = isOfWholePerson ? sitesOfPerson(before) : [site]
    return { after: bindEmail(renewed.person, email), entries: personEntries(type, before, manager.author, affected) }
  })
  return { person: ofSite(person, site), invitation }
}

/** Errors: personUnknown, lastOwner, unavailable. */
export const removeUser = async (
  { people }: UserDeps,
  manager: Manager,
  name: string,
  isEverywhere = (person: Person) => hasEveryRight(manager, person),
): Promise<void> => {
  const site = manager.site.id
  const found = await updatePerson(people, name, (person) => {
    ofSite(person, site)
    manager.checkState?.(person)
    const after = isEverywhere(person) ? undefined : withoutSite(person, site)
    const sites = after ? [site] : sitesOfPerson(person)
    return { after, entries: personEntries('user.removed', person, manager.author, sites) }
  })
  if (!found) throw new ServiceError('personUnknown')
}

export const findUser = async ({ people }: UserDeps, site: SiteId, name: string): Promise<Person> =>
  ofSite(await people.get(name), site)
