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
  readonly person?: Person
}

export interface SiteCaller extends Caller {
  readonly rights: readonly Right[]
}

// every token may use fields and categories, because the contract says so.
const usualRights = (['forms:write', 'categories:write', 'history:read'] as const).map(rightOf)

export const hasOwnRights = ({ kind, permissions: texts }: Grant): boolean =>
  kind !== undefined || texts.some((text) => text.includes(':'))

export const rightsOfToken = (grant: Grant): readonly Right[] => {
  const files = grant.permissions.includes('files') ? [rightOf('files:write')] : []
  return [...files, ...(hasOwnRights(grant) ? parseRights(grant.permissions) : usualRights)]
}

/**
 * a session has the current rights of its person. A key has only those of its rights that its person
 * also has. Undefined if the person was removed, is disabled, or has ended all sessions.
 */
export const callerOf = (grant: Grant, person?: Person): Caller | undefined => {
  const { kind, permissions: texts } = grant
  if (kind === undefined) {
    const rights = rightsOfToken(grant)
    return { ...grant, rightsBySite: new Map(grant.sites.map((site) => [site, rights])) }
  }
  const isKey = kind === 'key'
  if (!person || person.disabled) return undefined
  const isKept = !isKey && grant.hash === person.keptSession
  if (!isKept && grant.since !== (isKey ? person.created : person.sessions)) return undefined
  const sites = grant.sites.filter((site) => person.sites[site] !== undefined)
  const currentRights = (site: SiteId): readonly Right[] => {
    const rights = rightsOfEntry(person.sites[site])
    return isKey ? commonRights(parseRights(texts), rights) : simplified(rights)
  }
  return { ...grant, sites, rightsBySite: new Map(sites.map((site) => [site, currentRights(site)])), person }
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
