import { Readable } from 'node:stream'
import { ServiceError } from '../core/errors.ts'
import type { RemainingTime } from '../core/remaining-time.ts'
import { type AdmissionDeps, admit, admitCaller } from './admission.ts'
import { type CallerOperation, isOfCaller } from './caller-operation.ts'
import { preflight } from './cors.ts'
import { type GroupPolicy, groupPolicies } from './group-policy.ts'
import { preferredFormat } from './negotiate.ts'
import type { OperationHandler } from './operation.ts'
import { isPublic, type PublicOperation } from './public-operation.ts'
import { asServiceError, errorReply } from './render-error.ts'
import { type Presentation, renderReply } from './render-reply.ts'
import type { Answer, Arrival, Handler, Request, RequestRecord, Send, Telemetry, Trace } from './request.ts'
import { createRouter, type Group, isOfSite, type Route } from './router.ts'

export interface EdgeDeps extends AdmissionDeps {
  readonly telemetry: Telemetry
}

export type AnyOperation = OperationHandler | PublicOperation | CallerOperation

/** A route with what answers it. */
type Endpoint = Route & { readonly answeredBy: AnyOperation }

/** The operations and the table must agree on who may call: a mistake there is found when the service starts. */
const endpointOf = (route: Route, answeredBy: AnyOperation): Endpoint => {
  if (isPublic(answeredBy) !== (route.public ?? false)) {
    throw new Error(`The route table and ${route.operation} do not agree on whether it is public`)
  }
  if (isOfCaller(answeredBy) !== !(route.public || isOfSite(route))) {
    throw new Error(`The route table and ${route.operation} do not agree on whether it is that of a site`)
  }
  return { ...route, answeredBy }
}

const onlyJson: Presentation = { format: 'json', varies: false }

/** How a request is answered that has come to nothing: in what it asks for, or else in what the group prefers. */
const presentationOf = (request: Request, { formats }: GroupPolicy, trace: Trace): Presentation =>
  trace.public ? onlyJson : { format: preferredFormat(request, formats) ?? formats[0], varies: formats.length > 1 }

const letGo = ({ body }: Answer): void => {
  if (body instanceof Readable) body.destroy()
}

/** Rejects as soon as the request has to be answered; what comes later than that is let go of. Errors: unavailable. */
const inTime = <Value>(
  work: Value | Promise<Value>,
  { signal }: Request,
  letGoOf: (late: Value) => void,
): Value | Promise<Value> => {
  if (!signal || !(work instanceof Promise)) return work
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      reject(new ServiceError('unavailable', { cause: signal.reason }))
      work.then(letGoOf, () => {})
    }
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    work.then(resolve, reject)
  })
}

const asItIs: Send<Answer> = (answer) => answer

/** No caller goes without an answer because nobody could write down that there was one. */
const tell = (record: () => void): void => {
  try {
    record()
  } catch (error) {
    console.error('A request could not be recorded:', error)
  }
}

/**
 * The handler of one group: sees a request through the checks and its operation, and renders and sends whatever comes of it, errors
 * included. It never throws, but for an error answer that cannot be sent.
 */
export const createHandler = <Operation extends string>(
  group: Group,
  routes: readonly (Route & { readonly operation: Operation })[],
  operations: Readonly<Record<Operation, AnyOperation>>,
  deps: EdgeDeps,
): Handler => {
  const policy = groupPolicies[group]
  const router = createRouter(routes.map((route) => endpointOf(route, operations[route.operation])))

  const answerTo = async (request: Request, remainingTime: RemainingTime, trace: Trace): Promise<Answer> => {
    if (request.method === 'OPTIONS') {
      const reply = preflight(request, router.methodsAt(request.path))
      return renderReply(request, reply, presentationOf(request, policy, trace))
    }
    const { route, params } = router.match(request.method, request.path)
    const { operation, answeredBy } = route
    trace.operation = operation
    const routed = { ...request, params, remainingTime }
    if (isOfCaller(answeredBy)) {
      const { caller, presentation } = await admitCaller(deps, policy, routed, trace)
      return renderReply(request, await answeredBy.run({ ...routed, caller }), presentation)
    }
    if (isPublic(answeredBy)) {
      trace.public = true
      return renderReply(request, await answeredBy.run(routed), onlyJson)
    }
    const admission = await admit(deps, { route, policy }, routed, trace)
    if ('elsewhere' in admission) {
      return renderReply(request, admission.elsewhere, presentationOf(request, policy, trace))
    }
    return renderReply(request, await answeredBy(admission.admitted), admission.presentation)
  }

  const failed = (request: Request, error: unknown, trace: Trace): Answer =>
    renderReply(request, errorReply(asServiceError(error), request.id), presentationOf(request, policy, trace))

  /** One attempt to answer, and another one that says why the first has failed. */
  const sendAnswer = async <Sent>(
    request: Request,
    remainingTime: RemainingTime,
    send: Send<Sent>,
    trace: Trace,
  ): Promise<{ readonly sent: Sent; readonly status: number; readonly failure: unknown }> => {
    let failure: unknown
    const cut = (error: unknown) => {
      failure = error
    }
    const attempt = async () => {
      const answer = await inTime(answerTo(request, remainingTime, trace), request, letGo)
      try {
        return { sent: await inTime(send(answer, cut), request, () => {}), status: answer.status }
      } catch (error) {
        letGo(answer)
        throw error
      }
    }
    try {
      return { ...(await attempt()), failure }
    } catch (error) {
      const answer = failed(request, error, trace)
      return {
        sent: await send(answer, cut),
        status: answer.status,
        failure: answer.status >= 500 ? error : failure,
      }
    }
  }

  async function handle(request: Request, remainingTime: RemainingTime): Promise<Answer>
  async function handle<Sent>(request: Request, remainingTime: RemainingTime, send: Send<Sent>): Promise<Sent>
  async function handle(
    request: Request,
    remainingTime: RemainingTime,
    send: Send<unknown> = asItIs,
  ): Promise<unknown> {
    const { clock, telemetry } = deps
    const startedAt = clock.monotonic()
    const arrival: Arrival = { requestId: request.id, method: request.method, path: request.path }
    tell(() => telemetry.arrival?.(arrival))
    const trace: Trace = { operation: 'none', site: null, token: null, public: false }
    const { sent, status, failure } = await sendAnswer(request, remainingTime, send, trace)
    const record: RequestRecord = {
      ...arrival,
      operation: trace.operation,
      site: trace.site,
      token: trace.token,
      status,
      durationMs: Math.round((clock.monotonic() - startedAt) * 1000) / 1000,
      ...(failure !== undefined && { error: failure }),
    }
    tell(() => telemetry.request(record))
    return sent
  }
  return handle
}
