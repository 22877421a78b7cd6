import { ServiceError } from '../errors.ts'
import { type AccessDeps, findCaller } from './authenticate.ts'
import type { GroupPolicy } from './group-policy.ts'
import { preferredFormat } from './negotiate.ts'
import type { Trace } from './observe.ts'
import type { AdmittedRequest, RoutedRequest } from './operation.ts'
import type { Presentation } from './render-reply.ts'
import type { Reply } from './reply.ts'
import { resolveSite, type SiteDeps } from './resolve-site.ts'

export interface AdmissionDeps extends AccessDeps, SiteDeps {}

/** What becomes of a request before its operation runs: it is admitted, or sent to another data centre. */
type Admission =
  | { readonly admitted: AdmittedRequest; readonly presentation: Presentation }
  | { readonly elsewhere: Reply }

/** Errors: privilegesMissing, renderingEngineOff. */
const requireRights = (
  { permission, renderingEngine }: GroupPolicy,
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

/** The checks that a request passes on its way to its operation, in the order of decisions.md, section 1; the route is found already. */
export const admit = async (
  deps: AdmissionDeps,
  policy: GroupPolicy,
  request: RoutedRequest,
  trace: Trace,
): Promise<Admission> => {
  const caller = await findCaller(deps, request, policy)
  const place = await resolveSite(deps, request, request.params['site'] ?? '', caller, policy)
  if ('elsewhere' in place) return place
  trace.site = place.site.id
  const admitted = { ...request, ...place, caller }
  requireRights(policy, admitted)
  return { admitted, presentation: negotiate(request, policy) }
}
