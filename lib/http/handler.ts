import { Readable } from 'node:stream'
import { ServiceError } from '../core/errors.ts'
import type { Deadline } from '../core/time.ts'
import { createResponder, type EdgeDeps, type OperationsOf } from './admission.ts'
import { asServiceError, errorReply, renderReply } from './render-reply.ts'
import type { Answer, Arrival, Delivery, Handler, Request, Send, Trace } from './request.ts'
import { type Group, groupPolicies, type Route } from './router.ts'

const discardBody = ({ body }: Answer): void => {
  if (body instanceof Readable) body.destroy()
}

const forCaller = (answer: Answer, { admitted }: Trace): Answer => (admitted ? answer : { ...answer, toStranger: true })

const untilAborted = <Value>(work: Value | Promise<Value>, { signal }: Request, discard: (late: Value) => void) => {
  if (!signal || !(work instanceof Promise)) return work
  return new Promise<Value>((resolve, reject) => {
    const giveUp = () => {
      reject(new ServiceError('unavailable', { cause: signal.reason }))
      work.then(discard, () => {})
    }
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    work.then(resolve, reject)
  })
}

// A failure of the recorder must not prevent the answer.
const report = (record: () => void): void => {
  try {
    record()
  } catch (error) {
    console.error('The log line of a request could not be written:', error)
  }
}

/**
 * Answers and records every request, even one that fails (E-4). Throws only when it cannot send an error answer.
 * `meaningOf` translates a request of a protocol, such as tus, into a request of an operation.
 */
export const createHandler = <Row extends Route, Deps extends { readonly edge: EdgeDeps }>(
  group: Group,
  routes: readonly Row[],
  operations: OperationsOf<Row, NoInfer<Deps>>,
  deps: Deps,
  meaningOf: (request: Request) => Request = (request) => request,
): Handler => {
  const respond = createResponder(group, routes, operations, deps)

  return async <Sent = Answer>(
    received: Request,
    deadline: Deadline,
    send: Send<Sent> = (answer) => ({ sent: answer as Sent }),
  ): Promise<Sent> => {
    const { clock, telemetry } = deps.edge
    const request = meaningOf(received)
    const startedAt = clock.monotonic()
    const arrival: Arrival = { requestId: request.id, method: received.method, path: request.path }
    report(() => telemetry.arrival?.(arrival))
    const { formats } = groupPolicies[group]
    const trace: Trace = { operation: 'none', site: null, token: null, formats, admitted: false }
    let failure: unknown
    let answer: Answer | undefined
    let delivery: Delivery<Sent>
    try {
      answer = await untilAborted(respond(request, deadline, trace), request, discardBody)
      delivery = await untilAborted(send(forCaller(answer, trace)), request, () => {})
      failure = delivery.cut
    } catch (error) {
      if (answer) discardBody(answer)
      answer = renderReply(request, errorReply(asServiceError(error), request.id), trace.formats)
      delivery = await send(forCaller(answer, trace))
      failure = answer.status >= 500 ? error : delivery.cut
    }
    const { status } = answer
    const { operation, site, token } = trace
    const durationMs = Math.round((clock.monotonic() - startedAt) * 1000) / 1000
    const error = failure === undefined ? {} : { error: failure }
    const { sent, cut: _, ...bytes } = delivery
    report(() => telemetry.request({ ...arrival, operation, site, token, status, durationMs, ...bytes, ...error }))
    return sent
  }
}
