import { Readable } from 'node:stream'
import { createDeadline, type Deadline, unlimited } from '../../lib/core/time.ts'
import type { Answer as CoreAnswer, Request as CoreRequest, Handler } from '../../lib/http/request.ts'
import { type Answer, answerOf } from './answer.ts'

export interface Request {
  /** Several values mean that the header was sent several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly query?: Readonly<Record<string, string | readonly string[]>>
  /** Text, bytes and streams are sent unchanged, other values as JSON with its content type. */
  readonly body?: unknown
  readonly requestId?: string
  /** The remaining milliseconds of the request: a fixed number, or a function that is called each time. */
  readonly remaining?: number | (() => number)
}

const isRaw = (body: unknown): body is string | Buffer => typeof body === 'string' || Buffer.isBuffer(body)

const bodyOf = (body: unknown = ''): CoreRequest['body'] =>
  body instanceof Readable ? { stream: body } : { bytes: Buffer.from(isRaw(body) ? body : JSON.stringify(body)) }

const headersOf = ({ headers = {}, body = '' }: Request): Record<string, string> => {
  const joined: Record<string, string> = Object.create(null)
  if (!isRaw(body) && !(body instanceof Readable)) joined['content-type'] = 'application/json'
  for (const [name, value] of Object.entries(headers)) joined[name.toLowerCase()] = [value].flat().join(', ')
  return joined
}

export const requestOf = (method: string, path: string, request: Request = {}): CoreRequest => {
  const { query = {}, requestId: id = 'test' } = request
  return {
    id,
    method,
    path,
    query: new Map(Object.entries(query).map(([name, value]) => [name, [value].flat()])),
    headers: headersOf(request),
    body: bodyOf(request.body),
  }
}

export const textOf = async ({ body }: Pick<CoreAnswer, 'body'>): Promise<string> => {
  if (typeof body === 'string') return body
  return Buffer.from(body instanceof Readable ? Buffer.concat(await body.toArray()) : body).toString()
}

/** Handles and records a request, as a transport does. The caller reads the stream of the answer. */
export const answerTo = async (handler: Handler, request: CoreRequest, deadline: Deadline = unlimited) => {
  const { answer, record } = await handler(request, deadline)
  record({})
  return answer
}

export const send = async (handler: Handler, method: string, path: string, request: Request = {}): Promise<Answer> => {
  const { remaining = Number.POSITIVE_INFINITY } = request
  const deadline = createDeadline(typeof remaining === 'function' ? remaining : () => remaining)
  const answer = await answerTo(handler, requestOf(method, path, request), deadline)
  return answerOf(answer.status, answer.headers, await textOf(answer))
}
