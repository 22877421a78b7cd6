import { type Grant, hashToken, isCurrent } from '../access/grants.ts'
import type { Clock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import type { GroupPolicy } from './group-policy.ts'
import { preferredFormat } from './negotiate.ts'
import type { AdmittedRequest, RoutedRequest } from './operation.ts'
import type { Presentation } from './render-reply.ts'
import type { Reply } from './reply.ts'
import { firstValue, type Request, type Trace } from './request.ts'
import { resolveSite, type SiteDeps } from './resolve-site.ts'
import type { Route } from './router.ts'

interface AccessDeps {
  /** The grant of a token, by the token's hash. */
  readonly findGrant: (hash: string) => Promise<Grant | undefined>
  readonly clock: Clock
}

export interface AdmissionDeps extends AccessDeps, SiteDeps {}

/** What becomes of a request before its operation runs: it is admitted, or sent to another data centre. */
type Admission =
  | { readonly admitted: AdmittedRequest; readonly presentation: Presentation }
  | { readonly elsewhere: Reply }

/** What the service issues; anything else need not be looked up. */
const tokenShape = /^[0-9a-f]{64}$/

const tokenOf = ({ headers, query }: Request, inQuery: boolean): string | undefined => {
  const header = headers['authorization']?.trim().replace(/^Bearer\s+/i, '')
  if (header) return header
  return inQuery ? firstValue(query, 'access_token') || firstValue(query, 'status') : undefined
}

/** Finds out who calls (decisions.md, section 1). Errors: tokenRejected. */
const findCaller = async (
  { findGrant, clock }: AccessDeps,
  request: Request,
  { tokenInQuery }: GroupPolicy,
  trace: Trace,
): Promise<Grant> => {
  const token = tokenOf(request, tokenInQuery ?? false)
  const hash = token !== undefined && tokenShape.test(token) ? hashToken(token) : undefined
  trace.token = hash?.slice(0, 8) ?? null
  const grant = hash === undefined ? undefined : await findGrant(hash)
  if (!grant || !isCurrent(grant, clock.wall())) {
    throw new ServiceError('tokenRejected', { headers: { 'WWW-Authenticate': 'Bearer' } })
  }
  return grant
}

/** Errors: privilegesMissing, renderingEngineOff. */
const requireRights = (
  { permission }: Pick<Route, 'permission'>,
  { renderingEngine }: GroupPolicy,
  { caller, site }: Pick<AdmittedRequest, 'caller' | 'site'>,
): void => {
  if (permission && !caller.permissions.includes(permission)) throw new ServiceError('privilegesMissing')
  if (renderingEngine && !site.renderingEngine) throw new ServiceError('renderingEngineOff')
}

/** Errors: notAcceptable. */
const negotiate = ({ headers }: RoutedRequest, { formats }: GroupPolicy): Presentation => {
  const format = preferredFormat({ headers }, formats)
  if (format === undefined) throw new ServiceError('notAcceptable')
  return { format, varies: formats.length > 1 }
}

/** What a request is held against. */
interface Rules {
  readonly route: Pick<Route, 'permission' | 'keepsMethod'>
  readonly policy: GroupPolicy
}

/** The checks that a request passes on its way to its operation, in the order of decisions.md, section 1; the route is found already. */
export const admit = async (
  deps: AdmissionDeps,
  { route, policy }: Rules,
  request: RoutedRequest,
  trace: Trace,
): Promise<Admission> => {
  const caller = await findCaller(deps, request, policy, trace)
  const found = await resolveSite(deps, request, request.params['site'] ?? '', caller, { route, policy })
  if ('elsewhere' in found) return found
  trace.site = found.site.id
  const admitted = { ...request, ...found, caller }
  requireRights(route, policy, admitted)
  return { admitted, presentation: negotiate(request, policy) }
}

/** The checks that are left where the path names no site. Errors: tokenRejected, notAcceptable. */
export const admitCaller = async (
  deps: AdmissionDeps,
  policy: GroupPolicy,
  request: RoutedRequest,
  trace: Trace,
): Promise<{ readonly caller: Grant; readonly presentation: Presentation }> => {
  const caller = await findCaller(deps, request, policy, trace)
  return { caller, presentation: negotiate(request, policy) }
}
