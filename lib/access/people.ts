import { ServiceError } from '../core/errors.ts'
import type { Author, ChangeType, HistoryEntry } from '../core/history-entry.ts'
import { type SiteId, storedId } from '../core/ids.ts'
import { type AreaRight, areas, parseRights, type Right, rightOf, textOfRight } from '../core/rights.ts'

const role = (isPerFolder: boolean, ...rights: readonly AreaRight[]) => ({ isPerFolder, rights: rights.map(rightOf) })

/**
 * With `isPerFolder`, the rights on files apply only to the folders that the person has on the site.
 */
export const roles = {
  owner: role(false, ...areas.map((area) => `${area}:write` as const)),
  editor: role(false, 'files:write', 'forms:write', 'categories:write', 'history:read'),
  author: role(true, 'files:write', 'history:read'),
  viewer: role(false, 'files:read', 'forms:read', 'categories:read', 'history:read'),
}

export type RoleName = keyof typeof roles

export const roleNames = Object.keys(roles) as [RoleName, ...RoleName[]]

export type SiteEntry =
  | { readonly role: RoleName; readonly folders?: readonly string[] }
  | { readonly rights: readonly string[] }

/**
 * A new person with the name of a removed person has a different value of `created`. A session is valid only
 * while its `since` equals `sessions`, or while its hash is `keptSession`. `created` and `sessions` are in epoch
 * milliseconds, and `expires` is in epoch seconds. `password` is a PHC string. `identities` has a hash for each account
 * at an issuer. `byEmail` is true if the address was set with the invitation or later. `addresses` has
 * the day of the last sign-in for each hash of an address.
 */
export interface Person {
  readonly name: string
  readonly displayName: string
  readonly email: string
  readonly sites: Readonly<Record<SiteId, SiteEntry>>
  readonly disabled: boolean
  readonly password?: string
  readonly invitation?: { readonly hash: string; readonly expires: number; readonly byEmail?: true }
  readonly identities?: readonly string[]
  readonly created: number
  readonly sessions: number
  readonly keptSession?: string
  readonly lastSignIn?: string
  readonly addresses?: Readonly<Record<string, string>>
  readonly version: number
}

/**
 * The port to people in all data centres. Names ignore case; e-mail addresses ignore the case of ASCII letters. `get`
 * may return an old state if `isNewest` is false (default: true). `create` returns false if the name is taken.
 * `replace` changes only the newest state, and sets the version. `replace` without `after` removes the person. It returns
 * false if another change came first, and throws lastOwner instead of leaving a site without an owner.
 * `listOfSites` has everybody who has one of the sites. Lists are sorted by name. `leaveSite` takes all people off a site
 * that is being removed, owners included. Errors of every call: unavailable.
 */
export interface People {
  get(name: string, isNewest?: boolean): Promise<Person | undefined>
  create(person: Person, entries: readonly HistoryEntry[]): Promise<boolean>
  replace(before: Person, after: Person | undefined, entries: readonly HistoryEntry[]): Promise<boolean>
  listOfEmail(email: string): Promise<readonly Person[]>
  listOfSites(...sites: readonly SiteId[]): Promise<readonly Person[]>
  leaveSite(site: SiteId): Promise<void>
}

const nameShape = /^[A-Za-z0-9._@+-]{1,64}$/

// CloudFront would send requests for people with these names to the function for files. Clients resolve `.` and `..` in
// paths.
const addressNames = ['.', '..', 'storage', 'uploads', 'changes']

export const personNameRule = `must have 1 to 64 letters, digits or . _ - @ +, and must not be one of these: ${addressNames.join(' ')}`

export const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

// Unicode has letters, such as the Kelvin sign, whose lower case is an ASCII letter.
export const keyOfName = (name: string): string => lowerAscii(name)

export const isPersonName = (name: string): boolean => nameShape.test(name) && !addressNames.includes(keyOfName(name))

export const longestEmail = 254

export const isEmail = (text: string): boolean =>
  text.length <= longestEmail && /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u.test(text)

export const newPerson = (known: Pick<Person, 'name' | 'displayName' | 'email' | 'sites'>, now: number): Person => ({
  ...known,
  disabled: false,
  created: now,
  sessions: now,
  version: 1,
})

export const sitesOfPerson = ({ sites }: Pick<Person, 'sites'>): readonly SiteId[] =>
  Object.keys(sites).map((id) => storedId<SiteId>(id))

export const rightsOfEntry = (entry: SiteEntry | undefined): readonly Right[] => {
  if (!entry) return []
  if ('rights' in entry) return parseRights(entry.rights)
  const { rights, isPerFolder } = roles[entry.role]
  if (!isPerFolder) return rights
  const onFolders = (entry.folders ?? []).map((folder) => `files:write:${folder}`)
  return [...parseRights(onFolders), ...rights.filter(({ area }) => area !== 'files')]
}

export const describeEntry = (entry: SiteEntry | undefined) => {
  const { role, folders = [] } = entry && 'role' in entry ? entry : { role: null }
  return { role, folders, rights: rightsOfEntry(entry).map(textOfRight) }
}

export const describePerson = ({ name, displayName, email, disabled, invitation, lastSignIn }: Person) => ({
  name,
  displayName,
  email,
  disabled,
  invited: invitation !== undefined,
  lastSignIn: lastSignIn ?? null,
})

export const personEntries = (
  type: ChangeType,
  { name }: Person,
  author: Author,
  sites: readonly SiteId[],
  details?: HistoryEntry['details'],
): readonly HistoryEntry[] =>
  sites.map((site) => ({ ...author, site, type, subject: `user/${name}`, ...(details && { details }) }))

const isOwner = ({ sites, disabled }: Person, site: SiteId): boolean => {
  const entry = sites[site]
  return !disabled && entry !== undefined && 'role' in entry && entry.role === 'owner'
}

export const ownershipsLost = (before: Person, after: Person | undefined): readonly SiteId[] =>
  sitesOfPerson(before).filter((site) => isOwner(before, site) && !(after && isOwner(after, site)))

export const canSignIn = ({ password, identities = [] }: Person): boolean =>
  password !== undefined || identities.length > 0

/**
 * an owner who has only an invitation does not replace an owner who can sign in. `people` has the people of the
 * sites in `ownershipsLost`. Errors: lastOwner.
 */
export const requireOtherOwners = (people: readonly Person[], before: Person, after: Person | undefined): void => {
  const others = people.filter((other) => other.name !== before.name && (canSignIn(other) || !canSignIn(before)))
  const owned = new Set(others.flatMap((other) => sitesOfPerson(other).filter((site) => isOwner(other, site))))
  const site = ownershipsLost(before, after).find((each) => !owned.has(each))
  if (site === undefined) return
  const advice =
    'Give another person the role owner first. An invited owner counts only after accepting the invitation.'
  throw new ServiceError('lastOwner', { message: `${before.name} is the last owner of site ${site}. ${advice}` })
}

const mostAttempts = 8

type Changed = { readonly after: Person | undefined; readonly entries?: readonly HistoryEntry[] }

/**
 * Changes or removes the newest state, and tries again if another change came first. Returns the changed or removed
 * person, or undefined if nobody has the name. Errors: lastOwner, unavailable, those of `change`.
 */
export const updatePerson = async (
  people: Pick<People, 'get' | 'replace'>,
  name: string,
  change: (person: Person) => Changed | Promise<Changed>,
): Promise<Person | undefined> => {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const before = await people.get(name)
    if (!before) return undefined
    const { after, entries = [] } = await change(before)
    if (await people.replace(before, after, entries)) return after ?? before
  }
  throw new ServiceError('unavailable')
}

export const withoutSite = (person: Person, site: SiteId): Person | undefined => {
  const { [site]: _, ...sites } = person.sites
  return Object.keys(sites).length > 0 ? { ...person, sites } : undefined
}
