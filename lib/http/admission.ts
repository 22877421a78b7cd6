import { type Caller, rightsOn, type SiteCaller } from '../access/callers.ts'
import { hashToken, isCurrent } from '../access/grants.ts'
import { isKey, keyFault } from '../access/keys.ts'
import type { Clock } from '../core/clock.ts'
import type { Deadline } from '../core/deadline.ts'
import { ServiceError } from '../core/errors.ts'
import { requireInAnyFolder, rightOf } from '../core/rights.ts'
import type { Site } from '../sites/site-directory.ts'
import { preflight } from './cors.ts'
import type { Formats } from './format.ts'
import { type GroupPolicy, groupPolicies } from './group-policy.ts'
import { preferredFormat } from './negotiate.ts'
import type { OperationHandler, RoutedRequest } from './operation.ts'
import type { CallerOperation, PublicOperation } from './public-operation.ts'
import { type Presentation, renderReply } from './render-reply.ts'
import { type Answer, firstValue, type Request, type Trace } from './request.ts'
import type { RequestLimit } from './request-limit.ts'
import { readAheadSite, resolveSite, type SiteDeps } from './resolve-site.ts'
import { createRouter, type Group, isOfSite, type Route } from './router.ts'

export interface AdmissionDeps extends SiteDeps {
  readonly findCaller: (hash: string) => Promise<Caller | undefined>
  readonly clock: Clock
  readonly limitToken: RequestLimit
  readonly limitSite: RequestLimit
}

export type AnyOperation<Deps> = OperationHandler<Deps> | PublicOperation<Deps> | CallerOperation<Deps>

// The service issues tokens of this form only, so no other text needs a lookup.
const tokenShape = /^[0-9a-f]{64}$/

const tokenIn = ({ headers, query }: Request, inQuery?: boolean) => {
  const text = headers['authorization']?.trim().replace(/^Bearer\s+/i, '')
  if (text || !inQuery) return { text: text ?? '', isInQuery: false }
  return { text: firstValue(query, 'access_token') || firstValue(query, 'status') || '', isInQuery: true }
}

const rejected = (message?: string): ServiceError =>
  new ServiceError('tokenRejected', message === undefined ? {} : { message })

const findCurrent = async ({ findCaller, clock }: AdmissionDeps, hash: string): Promise<Caller> => {
  const caller = await findCaller(hash)
  if (!caller || !isCurrent(caller, clock.wall())) throw rejected()
  return caller
}

// O-22. Errors: tokenRejected, tooManyRequests.
const authenticate = async (
  deps: AdmissionDeps,
  request: RoutedRequest,
  { tokenInQuery }: GroupPolicy,
  trace: Trace,
): Promise<Caller> => {
  const { text, isInQuery } = tokenIn(request, tokenInQuery)
  const fault = keyFault(text, isInQuery)
  if (fault !== undefined || !(tokenShape.test(text) || isKey(text))) throw rejected(fault)
  const hash = hashToken(text)
  trace.token = hash.slice(0, 8)
  const [caller] = await Promise.all([findCurrent(deps, hash), readAheadSite(deps, request)])
  trace.admitted = true
  deps.limitToken(hash)
  return caller
}

const admitToSite = ({ right }: Route, { renderingEngine, rightMissing }: GroupPolicy, caller: Caller, site: Site) => {
  const rights = rightsOn(caller, site.id)
  if (right) requireInAnyFolder(rights, rightOf(right), rightMissing)
  if (renderingEngine && !site.renderingEngine) throw new ServiceError('renderingEngineOff')
  return { ...caller, rights }
}

const presentationIn = (formats: Formats, format: Formats[number]): Presentation => ({
  format,
  varies: formats.length > 1,
})

const negotiate = (request: Request, formats: Formats): Presentation => {
  const format = preferredFormat(request, formats)
  if (format === undefined) throw new ServiceError('notAcceptable')
  return presentationIn(formats, format)
}

export const fallbackPresentation = (request: Request, policy: GroupPolicy, trace: Trace): Presentation => {
  const formats = trace.formats ?? policy.formats
  return presentationIn(formats, preferredFormat(request, formats) ?? formats[0])
}

export const formatsOf = (route: Route, policy: GroupPolicy): Formats =>
  route.formats ?? (route.public ? ['json'] : policy.formats)

// The service refuses to start if its operations do not match the route table.
const endpointOf = <Deps>(route: Route, answeredBy: AnyOperation<Deps>) => {
  const kind = typeof answeredBy === 'function' ? 'site' : answeredBy.kind
  const wanted = route.public ? 'public' : isOfSite(route) ? 'site' : 'caller'
  if (kind !== wanted) {
    throw new Error(`The operation ${route.operation} is of the kind "${kind}", but its route is "${wanted}"`)
  }
  if (isOfSite(route) !== (route.right !== undefined)) {
    throw new Error(`The route table names no right for ${route.operation}`)
  }
  return { ...route, answeredBy }
}

/**
 * the checks in their order: path and method, token and its limit, site with its data centre and limit, right and
 * rendering engine, media type of the answer. The operation itself reads the body, so the checks of the body come last:
 * media type, size, content.
 */
export const createResponder = <Operation extends string, Deps extends { readonly edge: AdmissionDeps }>(
  group: Group,
  routes: readonly (Route & { readonly operation: Operation })[],
  operations: Readonly<Record<Operation, AnyOperation<Deps>>>,
  deps: Deps,
) => {
  const { edge } = deps
  const policy = groupPolicies[group]
  const router = createRouter(routes.map((route) => endpointOf(route, operations[route.operation])))

  return async (request: Request, deadline: Deadline, trace: Trace): Promise<Answer> => {
    if (request.method === 'OPTIONS') {
      const reply = preflight(request, router.methodsAt(request.path))
      return renderReply(request, reply, fallbackPresentation(request, policy, trace))
    }
    const { route, params } = router.match(request.method, request.path)
    const { operation, answeredBy } = route
    trace.operation = operation
    const routed = { ...request, params, deadline }
    const formats = formatsOf(route, policy)
    trace.formats = formats
    if (typeof answeredBy === 'object' && answeredBy.kind === 'public') {
      const presentation = negotiate(request, formats)
      return renderReply(request, await answeredBy.run(routed, deps), presentation)
    }
    const caller = await authenticate(edge, routed, policy, trace)
    if (typeof answeredBy === 'object') {
      const presentation = negotiate(request, formats)
      return renderReply(request, await answeredBy.run({ ...routed, caller }, deps), presentation)
    }
    const found = await resolveSite(edge, routed, caller, route, policy)
    if ('redirect' in found) {
      return renderReply(request, found.redirect, fallbackPresentation(request, policy, trace))
    }
    trace.site = found.site.id
    edge.limitSite(found.site.id)
    const admitted = { ...routed, ...found, caller: admitToSite(route, policy, caller, found.site) }
    const readmit = async (): Promise<SiteCaller> => {
      const now = await findCurrent(edge, caller.hash)
      const place = await resolveSite(edge, routed, now, route, policy)
      if ('redirect' in place) throw new ServiceError(policy.siteUnknown)
      return admitToSite(route, policy, now, place.site)
    }
    const presentation = negotiate(request, formats)
    return renderReply(request, await answeredBy({ ...admitted, readmit }, deps), presentation)
  }
}
