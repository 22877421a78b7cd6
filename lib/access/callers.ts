import type { SiteId } from '../core/ids.ts'
import { commonRights, hasInAnyFolder, parseRights, type Right, rightOf, simplified } from '../core/rights.ts'
import { type Grant, type Grants, type Permission, permissions } from './grants.ts'
import { type People, type Person, rightsOfEntry } from './people.ts'

/**
 * The caller with a valid token. `sites` has only those sites of the token on which the caller still has rights. A
 * token of the command `token issue` has no `person`.
 */
export interface Caller extends Grant {
  readonly rightsBySite: ReadonlyMap<SiteId, readonly Right[]>
  readonly hasOwnRights: boolean
  readonly person?: Person
}

export interface SiteCaller extends Caller {
  readonly rights: readonly Right[]
}

// every token may use fields and categories, because the contract says so.
const usualRights = (['forms:write', 'categories:write', 'history:read'] as const).map(rightOf)

export const rightsOfToken = (grant: Pick<Grant, 'permissions'>): readonly Right[] => {
  const files = grant.permissions.includes('files') ? [rightOf('files:write')] : []
  return [...files, ...(hasOwnRights(grant) ? parseRights(grant.permissions) : usualRights)]
}

const hasOwnRights = ({ permissions: texts }: Pick<Grant, 'permissions'>): boolean =>
  texts.some((text) => text.includes(':'))

const callerOfToken = (grant: Grant): Caller => {
  const rights = rightsOfToken(grant)
  return {
    ...grant,
    rightsBySite: new Map(grant.sites.map((site) => [site, rights])),
    hasOwnRights: hasOwnRights(grant),
  }
}

const callerOfPerson = (grant: Grant, person: Person): Caller | undefined => {
  const since = grant.kind === 'key' ? person.created : person.sessions
  if (person.disabled || grant.since !== since) return undefined
  const sites = grant.sites.filter((site) => person.sites[site] !== undefined)
  const rightsOn = (site: SiteId): readonly Right[] => {
    const rights = rightsOfEntry(person.sites[site])
    return grant.kind === 'key' ? commonRights(parseRights(grant.permissions), rights) : rights
  }
  const rightsBySite = new Map(sites.map((site) => [site, simplified(rightsOn(site))]))
  return { ...grant, sites, rightsBySite, hasOwnRights: true, person }
}

/**
 * a session has the current rights of its person. A key has only those of its rights that its person
 * also has. Undefined if the person was removed, is disabled, or has ended all sessions.
 */
export const callerOf = (grant: Grant, person?: Person): Caller | undefined => {
  if (grant.kind === undefined) return callerOfToken(grant)
  return person && callerOfPerson(grant, person)
}

const lookUp = async (grants: Grants, people: People, hash: string, isNewest: boolean): Promise<Caller | undefined> => {
  const grant = await grants.get(hash, isNewest)
  if (!grant) return undefined
  const [person, parent] = await Promise.all([
    grant.kind && people.get(grant.user, isNewest),
    grant.parent === undefined ? grant : grants.get(grant.parent, isNewest),
  ])
  return parent && callerOf(grant, person)
}

/**
 * reads the grant of the token and, if the grant names a person, this person. For a token for one site, also
 * reads the session of the token, which must still exist. A cheap read may not see a new token yet, so a token is
 * refused only after reads of the newest state.
 */
export const findCaller = async (grants: Grants, people: People, hash: string): Promise<Caller | undefined> =>
  (await lookUp(grants, people, hash, false)) ?? lookUp(grants, people, hash, true)

export const rightsOn = ({ rightsBySite }: Pick<Caller, 'rightsBySite'>, site: SiteId): readonly Right[] =>
  rightsBySite.get(site) ?? []

/** callers who can read files in at least one folder have the permission `files`. */
export const permissionsOf = (rights: readonly Right[]): readonly Permission[] =>
  hasInAnyFolder(rights, rightOf('files:read')) ? permissions : []
