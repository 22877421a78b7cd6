import { hashToken } from '../access/grants.ts'
import { isKey, keyFault } from '../access/keys.ts'
import { setRecent } from '../core/cached-lookup.ts'
import { ServiceError, tooManyRequests } from '../core/errors.ts'
import type { Deadline } from '../core/time.ts'
import { admitToSite, type CallerDeps, findCurrent, isOfSite } from './admitted-caller.ts'
import type { CallerOperation, Operation, OperationHandler, PublicOperation } from './operation.ts'
import { preflight, renderReply } from './render-reply.ts'
import { preferredFormat } from './representation.ts'
import {
  type Answer,
  type Formats,
  firstValue,
  type Request,
  type RoutedRequest,
  type Telemetry,
  type Trace,
} from './request.ts'
import { readAheadSite, resolveSite } from './resolve-site.ts'
import { createRouter, type Group, type GroupPolicy, groupPolicies, type Route } from './router.ts'

const burstSeconds = 5
const mostCounted = 10_000

export type RequestLimit = (key: string | number) => void

/**
 * O-22: admits `rate` requests per second for each key. After a pause, a key may send more at once. A rate of 0 admits
 * all requests. Counts only the requests of this process, without a store. `now` is in milliseconds. Errors:
 * tooManyRequests.
 */
export const createRequestLimit = (rate: number, limited: string, now: () => number): RequestLimit => {
  const most = rate * burstSeconds
  const allowances = new Map<string | number, { readonly left: number; readonly at: number }>()
  return (key) => {
    if (rate === 0) return
    const at = now()
    const before = allowances.get(key) ?? { left: most, at }
    const left = Math.min(most, before.left + ((at - before.at) / 1000) * rate)
    setRecent(allowances, key, { left: left < 1 ? left : left - 1, at }, mostCounted)
    if (left >= 1) return
    throw tooManyRequests(`Too many requests arrive ${limited}.`, (1 - left) / rate)
  }
}

export interface EdgeDeps extends CallerDeps {
  readonly limitToken: RequestLimit
  readonly limitSite: RequestLimit
  readonly telemetry: Telemetry
}

// The service issues tokens of this form only, so no other text needs a lookup.
const tokenShape = /^[0-9a-f]{64}$/

const tokenIn = ({ headers, query }: Request, inQuery?: boolean) => {
  const text = headers['authorization']?.trim().replace(/^Bearer\s+/i, '')
  if (text || !inQuery) return { text: text ?? '', isInQuery: false }
  return { text: firstValue(query, 'access_token') || firstValue(query, 'status') || '', isInQuery: true }
}

// O-22. Errors: tokenRejected, tooManyRequests.
const authenticate = async (deps: EdgeDeps, request: RoutedRequest, policy: GroupPolicy, trace: Trace) => {
  const { text, isInQuery } = tokenIn(request, policy.tokenInQuery)
  const message = keyFault(text, isInQuery)
  if (message !== undefined || !(tokenShape.test(text) || isKey(text)))
    throw new ServiceError('tokenRejected', { message })
  const hash = hashToken(text)
  trace.token = hash.slice(0, 8)
  const [caller] = await Promise.all([findCurrent(deps, hash), readAheadSite(deps, request)])
  trace.admitted = true
  deps.limitToken(hash)
  return caller
}

export const formatsOf = (route: Route, policy: GroupPolicy): Formats =>
  route.formats ?? (route.public ? ['json'] : policy.formats)

/** The operations of routes. An operation gets no more than the checks of its route have found. */
export type OperationsOf<Row extends Route, Deps> = {
  readonly [Each in Row as Each['operation']]: Each extends { readonly public: true }
    ? PublicOperation<Deps>
    : Each extends Pick<Required<Route>, 'right'>
      ? OperationHandler<Deps>
      : CallerOperation<Deps>
}

/**
 * the checks in their order: path and method, token and its limit, site with its data centre and limit, right and
 * rendering engine, media type of the answer. The operation itself reads the body, so the checks of the body come last:
 * media type, size, content.
 */
export const createResponder = <Row extends Route, Deps extends { readonly edge: EdgeDeps }>(
  group: Group,
  routes: readonly Row[],
  operations: OperationsOf<Row, Deps>,
  deps: Deps,
) => {
  const { edge } = deps
  const policy = groupPolicies[group]
  const router = createRouter(routes)

  return async (request: Request, deadline: Deadline, trace: Trace): Promise<Answer> => {
    if (request.method === 'OPTIONS')
      return renderReply(request, preflight(request, router.methodsAt(request.path)), policy.formats)
    const { route, params } = router.match(request.method, request.path)
    trace.operation = route.operation
    const routed = { ...request, params, deadline }
    const formats = formatsOf(route, policy)
    trace.formats = formats
    const answer = async <Admitted extends RoutedRequest>(admitted: Admitted): Promise<Answer> => {
      if (preferredFormat(request, formats) === undefined) throw new ServiceError('notAcceptable')
      const run = operations[route.operation as Row['operation']] as Operation<Admitted, Deps>
      return renderReply(request, await run(admitted, deps), formats)
    }
    if (route.public) return answer(routed)
    const caller = await authenticate(edge, routed, policy, trace)
    if (!isOfSite(route)) return answer({ ...routed, caller })
    const found = await resolveSite(edge, routed, caller, route)
    if ('redirect' in found) return renderReply(request, found.redirect, formats)
    trace.site = found.site.id
    edge.limitSite(found.site.id)
    const admitted = admitToSite(route, caller, found.site)
    const admission = { request: routed, route, caller: admitted, admittedAt: edge.clock.monotonic() }
    return answer({ ...routed, ...found, caller: admitted, admission })
  }
}
