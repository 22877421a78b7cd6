import { type Caller, isCurrent, rightsOn, type SiteCaller } from '../access/grants.ts'
import { ServiceError } from '../core/errors.ts'
import { hasInAnyFolder, requireRight, rightOf } from '../core/rights.ts'
import type { Clock } from '../core/time.ts'
import type { Site } from '../sites/site-directory.ts'
import type { RoutedRequest } from './request.ts'
import { resolveSite, type SiteDeps } from './resolve-site.ts'
import { groupPolicies, type Route } from './router.ts'

export interface CallerDeps extends SiteDeps {
  readonly findCaller: (hash: string) => Promise<Caller | undefined>
  readonly clock: Clock
}

type SiteRoute = Route & Required<Pick<Route, 'right'>>

export const isOfSite = (route: Route): route is SiteRoute => route.right !== undefined

/**
 * The result of the checks of a request, with all that a repetition of these checks needs. `admittedAt` is in
 * milliseconds of the monotonic clock.
 */
export interface Admission {
  readonly request: RoutedRequest
  readonly route: SiteRoute
  readonly caller: SiteCaller
  readonly admittedAt: number
}

export const findCurrent = async ({ findCaller, clock }: CallerDeps, hash: string): Promise<Caller> => {
  const caller = await findCaller(hash)
  if (!caller || !isCurrent(caller, clock.wall())) throw new ServiceError('tokenRejected')
  return caller
}

export const admitToSite = ({ group, right }: SiteRoute, caller: Caller, site: Site): SiteCaller => {
  const { renderingEngine, rightMissing } = groupPolicies[group]
  const rights = rightsOn(caller, site.id)
  requireRight(rights, rightOf(right), rightMissing, hasInAnyFolder)
  if (renderingEngine && !site.renderingEngine) throw new ServiceError('renderingEngineOff')
  return { ...caller, rights }
}

/** Checks the token and the rights of a long request again. Errors: those of the first check. */
export const readmit = async (deps: CallerDeps, { request, route, caller }: Admission): Promise<SiteCaller> => {
  const current = await findCurrent(deps, caller.hash)
  const found = await resolveSite(deps, request, current, route)
  if ('redirect' in found) throw new ServiceError(groupPolicies[route.group].siteUnknown)
  return admitToSite(route, current, found.site)
}

// In milliseconds. After this time, the rights of the caller are read again.
const longestBody = 10_000

/**
 * The caller, checked again if the body took long. Without this check, somebody who sends a body slowly could change
 * something long after the rights are gone. Errors: those of the first check.
 */
export const callerAfterBody = async (deps: CallerDeps, admission: Admission): Promise<SiteCaller> =>
  deps.clock.monotonic() < admission.admittedAt + longestBody ? admission.caller : readmit(deps, admission)
