import { ServiceError } from '../core/errors.ts'
import type { Author } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import { definedMembers } from '../core/names.ts'
import { includesRight, requireRight } from '../core/rights.ts'
import { type Caller, rightsOn } from './callers.ts'
import { type Invitation, invite } from './invitations.ts'
import {
  isPersonName,
  newPerson,
  type Person,
  personEntries,
  rightsOfEntry,
  type SiteEntry,
  sitesOfPerson,
  updatePerson,
  withoutSite,
} from './people.ts'
import type { SignInDeps } from './sign-in.ts'

export interface Manager {
  readonly site: { readonly id: SiteId }
  readonly caller: Pick<Caller, 'rightsBySite'>
  readonly author: Author
}

type UserDeps = Pick<SignInDeps, 'people' | 'clock'>

export interface NewUser {
  readonly name: string
  readonly displayName?: string | undefined
  readonly email?: string | undefined
  readonly entry: SiteEntry
}

export interface UserChange extends Pick<NewUser, 'displayName' | 'email'> {
  readonly entry?: SiteEntry | undefined
  readonly disabled?: boolean | undefined
  readonly invite?: true | undefined
}

// In bytes. DynamoDB stores a person in one item, and an item has at most 400 KB.
const largestRecord = 200_000

const requireGrantable = ({ site, caller }: Manager, entry: SiteEntry): void => {
  for (const right of rightsOfEntry(entry)) requireRight(rightsOn(caller, site.id), right, 'rightMissing')
}

const hasEveryRight = ({ caller }: Manager, person: Person): boolean =>
  sitesOfPerson(person).every((site) =>
    rightsOfEntry(person.sites[site]).every((right) => includesRight(rightsOn(caller, site), right)),
  )

const requireEveryRight = (manager: Manager, person: Person): void => {
  if (hasEveryRight(manager, person)) return
  throw new ServiceError('rightMissing', {
    message:
      'You lack a right that this person has on this or another site. Ask somebody who has all rights of the person.',
  })
}

const ofSite = (person: Person | undefined, site: SiteId): Person => {
  if (person?.sites[site] === undefined) throw new ServiceError('personUnknown')
  return person
}

const withEntry = (person: Person, site: SiteId, entry: SiteEntry): Person => {
  const changed = { ...person, sites: { ...person.sites, [site]: entry } }
  if (Buffer.byteLength(JSON.stringify(changed)) <= largestRecord) return changed
  throw new ServiceError('accessMalformed', {
    message: 'The person has too many sites or rights. Give a role instead of single rights.',
  })
}

/** Adds the site to a person who has other sites. The person needs no invitation. Errors: personTaken. */
const joinSite = async ({ people }: UserDeps, manager: Manager, { name, entry }: NewUser): Promise<Person> => {
  const site = manager.site.id
  const joined = await updatePerson(people, name, (person) => {
    if (person.name !== name || person.sites[site] !== undefined) throw new ServiceError('personTaken')
    return {
      after: withEntry(person, site, entry),
      entries: personEntries('user.created', person, manager.author, [site]),
    }
  })
  if (!joined) throw new ServiceError('unavailable')
  return joined
}

/** Errors: accessMalformed, rightMissing, personTaken, unavailable. */
export const addUser = async (deps: UserDeps, manager: Manager, user: NewUser) => {
  const site = manager.site.id
  if (!isPersonName(user.name)) {
    throw new ServiceError('accessMalformed', {
      message:
        'name: it must have 1 to 64 letters, digits or . _ - @ +, and must not be ".", "..", "storage", "uploads" or "changes".',
    })
  }
  requireGrantable(manager, user.entry)
  const now = deps.clock.wall()
  const { name, displayName = name, email = '', entry } = user
  const person = withEntry(newPerson({ name, displayName, email, sites: {} }, now), site, entry)
  const invited = invite(person, now)
  if (await deps.people.create(invited.person, personEntries('user.created', person, manager.author, [site])))
    return invited
  return { person: await joinSite(deps, manager, user), invitation: undefined }
}

/** Errors: personUnknown, rightMissing, accessMalformed, lastOwner, unavailable. */
export const changeUser = async ({ people, clock }: UserDeps, manager: Manager, name: string, change: UserChange) => {
  const site = manager.site.id
  const { entry, invite: again, displayName, email, disabled } = change
  const details = definedMembers({ displayName, email, disabled })
  const isOfWholePerson = again || Object.keys(details).length > 0
  let invitation: Invitation | undefined
  const person = await updatePerson(people, name, (before) => {
    ofSite(before, site)
    if (entry) requireGrantable(manager, entry)
    if (isOfWholePerson) requireEveryRight(manager, before)
    const changed = { ...(entry ? withEntry(before, site, entry) : before), ...details }
    if (again && changed.disabled) {
      throw new ServiceError('accessMalformed', {
        message: 'A disabled person cannot accept an invitation. Enable the person first.',
      })
    }
    const invited = again && invite(changed, clock.wall())
    invitation = invited?.invitation
    const type = invited ? 'user.invited' : 'user.changed'
    const sites = isOfWholePerson ? sitesOfPerson(before) : [site]
    return { after: invited?.person ?? changed, entries: personEntries(type, before, manager.author, sites) }
  })
  return { person: ofSite(person, site), invitation }
}

/** Errors: personUnknown, lastOwner, unavailable. */
export const removeUser = async (
  { people }: Pick<UserDeps, 'people'>,
  manager: Manager,
  name: string,
): Promise<void> => {
  const site = manager.site.id
  const removed = (person: Person, sites: readonly SiteId[]) =>
    personEntries('user.removed', person, manager.author, sites)
  const found = await updatePerson(people, name, (person) => {
    ofSite(person, site)
    if (hasEveryRight(manager, person)) return { after: undefined, entries: removed(person, sitesOfPerson(person)) }
    return { after: withoutSite(person, site), entries: removed(person, [site]) }
  })
  if (!found) throw new ServiceError('personUnknown')
}

export const findUser = async ({ people }: Pick<UserDeps, 'people'>, site: SiteId, name: string): Promise<Person> =>
  ofSite(await people.get(name), site)
