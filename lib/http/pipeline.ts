import middy, { type MiddlewareObj } from '@middy/core'
import type { Context } from 'aws-lambda'
import { ServiceError } from '../errors.ts'
import { type AccessDeps, authenticate } from './authenticate.ts'
import { preflight } from './cors.ts'
import { type Exchange, settled } from './exchange.ts'
import { fromGateway, type GatewayEvent, type GatewayResult, type PathEncoding, toGateway } from './gateway.ts'
import { groupPolicies } from './group-policy.ts'
import { type Format, preferredFormat } from './negotiate.ts'
import type { RequestRecord, Telemetry } from './observe.ts'
import type { OperationHandler } from './operation.ts'
import { asServiceError, errorReply } from './render-error.ts'
import { renderReply } from './render-reply.ts'
import type { RenderedReply, Reply } from './reply.ts'
import { requireRights } from './require-rights.ts'
import { resolveSite, type SiteDeps } from './resolve-site.ts'
import type { Group, Route } from './route.ts'
import { createRouter, type Router } from './router.ts'

export interface PipelineDeps extends AccessDeps, SiteDeps {
  readonly telemetry: Telemetry
  /** How the gateway hands over paths; `encoded` unless told otherwise. */
  readonly pathEncoding?: PathEncoding
}

export type Handler = (event: GatewayEvent, context: Partial<Context>) => Promise<GatewayResult>

/** Time that is kept, before the platform ends a request, for telling the caller so: in milliseconds. */
const timeToAnswer = 500

const findRoute = (router: Router): MiddlewareObj<Exchange, Reply> => ({
  before({ event: exchange }) {
    if (exchange.method === 'OPTIONS') return preflight(exchange, router.methodsAt(exchange.path))
    const { route, params } = router.match(exchange.method, exchange.path)
    exchange.route = route
    exchange.params = params
    return undefined
  },
})

/** Public operations answer JSON whatever `Accept` says, the others what their group offers. */
const formatsOf = ({ route }: Exchange, group: Group): readonly [Format, ...Format[]] =>
  route?.public ? ['json'] : groupPolicies[group].formats

const negotiate: MiddlewareObj<Exchange, Reply> = {
  before({ event: exchange }) {
    const route = settled(exchange.route, 'the route')
    if (!preferredFormat(exchange, formatsOf(exchange, route.group))) throw new ServiceError('notAcceptable')
  },
}

/** The checks that a request passes on its way to its operation, in the order of decisions.md, section 1. */
const createAdmission = (
  routes: readonly Route[],
  operations: Readonly<Record<string, OperationHandler>>,
  deps: PipelineDeps,
) =>
  middy<Exchange, Reply>()
    .use(findRoute(createRouter(routes)))
    .use(authenticate(deps))
    .use(resolveSite(deps))
    .use(requireRights)
    .use(negotiate)
    .handler((exchange) => {
      const { operation } = settled(exchange.route, 'the route')
      return settled(operations[operation], `the operation ${operation}`)(exchange)
    })

const recordOf = (exchange: Exchange, status: number, startedAt: number): RequestRecord => ({
  requestId: exchange.requestId,
  operation: exchange.route?.operation ?? 'none',
  method: exchange.method,
  site: exchange.site?.id ?? null,
  status,
  durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
  ...(status >= 500 && { error: exchange.failure }),
})

/**
 * The handler of one group: turns an API Gateway event into a request, sees it through the checks and its operation,
 * and renders whatever comes of it, errors included. It never throws.
 */
export const createHandler = <Operation extends string>(
  group: Group,
  routes: readonly (Route & { readonly operation: Operation })[],
  operations: Readonly<Record<Operation, OperationHandler>>,
  deps: PipelineDeps,
): Handler => {
  const admission = createAdmission(routes, operations, deps)

  const edge = middy<Exchange, RenderedReply>({ timeoutEarlyInMillis: timeToAnswer })
    .handler(async (exchange, context) =>
      renderReply(exchange, await admission(exchange, context), formatsOf(exchange, group)),
    )
    .use({
      onError(request) {
        const { event: exchange, error } = request
        exchange.failure = error
        const reply = errorReply(asServiceError(error), exchange.requestId)
        request.response = renderReply(exchange, reply, formatsOf(exchange, group))
      },
    })

  return async (event, context) => {
    const startedAt = performance.now()
    const exchange = fromGateway(event, context, deps.pathEncoding)
    const reply = await edge(exchange, context as Context)
    deps.telemetry.request(recordOf(exchange, reply.status, startedAt))
    return toGateway(reply, event)
  }
}
