import type { Grant } from '../access/grants.ts'
import { ServiceError } from '../core/errors.ts'
import { parseId, type SiteId } from '../core/ids.ts'
import { inParallel } from '../core/in-parallel.ts'
import type { DataCentre, Site } from '../sites/site-directory.ts'
import type { Reply } from './reply.ts'
import { isRead, queryText, type RoutedRequest } from './request.ts'
import { type GroupPolicy, groupPolicies, type Route } from './router.ts'

export interface SiteDeps {
  readonly dataCentre: string
  readonly findSite: (id: SiteId) => Promise<Site | undefined>
  readonly findDataCentre: (id: string) => Promise<DataCentre | undefined>
}

interface Located {
  readonly site: Site
  readonly dataCentre: DataCentre
}

export const siteIdIn = (segment: string, { sites }: Grant, { siteAmbiguous }: Pick<GroupPolicy, 'siteAmbiguous'>) => {
  if (segment === 'current') {
    if (sites.length > 1) throw new ServiceError(siteAmbiguous)
    return sites[0]
  }
  const id = parseId<SiteId>(segment)
  return sites.find((site) => site === id)
}

// After a 308, a client repeats the request with the same method, so a change never becomes a read.
export const redirectStatus = ({ method, group, keepsMethod }: Route): 301 | 308 => {
  if (keepsMethod) return 308
  return groupPolicies[group].alwaysMovedPermanently || isRead(method) ? 301 : 308
}

const dataCentreOf = async (id: string, find: SiteDeps['findDataCentre']): Promise<DataCentre> => {
  const record = await find(id)
  if (!record) throw new Error(`The directory has no base URL for the data centre ${id}`)
  return record
}

export const findHere = ({ dataCentre, findDataCentre }: SiteDeps): Promise<DataCentre> =>
  dataCentreOf(dataCentre, findDataCentre)

const lookupsAtOnce = 16

/** A-21: the existing sites of a token, in order of id, each with its data centre. */
export const sitesOf = async ({ findSite, findDataCentre }: SiteDeps, { sites }: Grant) => {
  const found: Located[] = []
  await inParallel(new Set(sites), lookupsAtOnce, async (id) => {
    const site = await findSite(id)
    if (site) found.push({ site, dataCentre: await dataCentreOf(site.dataCentre, findDataCentre) })
  })
  return found.sort((a, b) => a.site.id - b.site.id)
}

export const readAheadSite = async (deps: SiteDeps, { params }: RoutedRequest): Promise<void> => {
  const id = parseId<SiteId>(params['site'] ?? '')
  if (id !== undefined) await Promise.all([deps.findSite(id), deps.findDataCentre(deps.dataCentre)])
}

/**
 * A-15 to A-17, A-23 to A-26: for a site of another data centre, returns a redirect. Errors: siteUnknown and
 * siteAmbiguous of the group.
 */
export const resolveSite = async (
  deps: SiteDeps,
  request: RoutedRequest,
  caller: Grant,
  route: Route,
): Promise<Located | { readonly redirect: Reply }> => {
  const policy = groupPolicies[route.group]
  const id = siteIdIn(request.params['site'] ?? '', caller, policy)
  if (id === undefined) throw new ServiceError(policy.siteUnknown)
  const [site, here] = await Promise.all([deps.findSite(id), findHere(deps)])
  if (!site) throw new ServiceError(policy.siteUnknown)
  if (site.dataCentre === deps.dataCentre) return { site, dataCentre: here }
  const { url } = await dataCentreOf(site.dataCentre, deps.findDataCentre)
  const query = request.rawQuery ?? queryText(request)
  const headers = { Location: `${url}${request.path}${query && `?${query}`}`, 'Cache-Control': 'no-store' }
  return { redirect: { status: redirectStatus(route), headers } }
}
