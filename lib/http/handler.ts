import { Readable } from 'node:stream'
import { ServiceError } from '../core/errors.ts'
import { createResponder, type EdgeDeps, type OperationsOf } from './admission.ts'
import { asServiceError, errorReply, renderReply } from './render-reply.ts'
import type { Answer, Arrival, HandledRequest, Handler, Request, Trace } from './request.ts'
import { type Group, groupPolicies, type Route } from './router.ts'

const discardBody = ({ body }: Answer): void => {
  if (body instanceof Readable) body.destroy()
}

const forCaller = (answer: Answer, { admitted }: Trace): Answer => (admitted ? answer : { ...answer, toStranger: true })

/** Errors: unavailable, when the signal of the request aborts before the end of the work. */
export const untilAborted = <Value>(
  work: Promise<Value>,
  { signal }: Pick<Request, 'signal'>,
  discard: (late: Value) => void = () => {},
): Promise<Value> => {
  if (!signal) return work
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

const recordOrComplain = (record: () => void): void => {
  try {
    record()
  } catch (error) {
    console.error('The log line of a request could not be written:', error)
  }
}

/**
 * Returns an answer and a record for every request, even one that fails (E-4).
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

  return async (received, deadline) => {
    const { clock, telemetry } = deps.edge
    const request = meaningOf(received)
    const startedAt = clock.monotonic()
    const arrival: Arrival = { requestId: request.id, method: received.method, path: request.path }
    recordOrComplain(() => telemetry.arrival?.(arrival))
    const { formats } = groupPolicies[group]
    const trace: Trace = { operation: 'none', site: null, token: null, formats, admitted: false }
    const handled = (answer: Answer, failure?: unknown): HandledRequest => ({
      answer: forCaller(answer, trace),
      withError(error) {
        discardBody(answer)
        return failed(failure ?? error)
      },
      record({ cut, ...bytes }) {
        const { operation, site, token } = trace
        const durationMs = Math.round((clock.monotonic() - startedAt) * 1000) / 1000
        const error = failure ?? cut
        const outcome = { status: answer.status, durationMs, ...bytes, ...(error !== undefined && { error }) }
        recordOrComplain(() => telemetry.request({ ...arrival, operation, site, token, ...outcome }))
      },
    })
    const failed = (error: unknown): HandledRequest => {
      const answer = renderReply(request, errorReply(asServiceError(error), request.id), trace.formats)
      return handled(answer, answer.status >= 500 ? error : undefined)
    }
    return untilAborted(respond(request, deadline, trace), request, discardBody).then(handled, failed)
  }
}
