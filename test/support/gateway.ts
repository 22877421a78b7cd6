import { Readable } from 'node:stream'
import type { Answer as CoreAnswer, Request as CoreRequest, Handler } from '../../lib/http/request.ts'

export interface Request {
  /** A header with several values has been sent several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly query?: Readonly<Record<string, string | readonly string[]>>
  /** Text as it is; an object as JSON, with its content type. */
  readonly body?: string | object
  readonly requestId?: string
  /** Milliseconds that the platform leaves to the request. */
  readonly remaining?: number
}

export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The body read as JSON. */
  json(): Record<string, unknown>
}

const headersOf = ({ headers = {}, body }: Request): Record<string, string> => {
  const joined: Record<string, string> = Object.create(null)
  if (typeof body === 'object') joined['content-type'] = 'application/json'
  for (const [name, value] of Object.entries(headers)) joined[name.toLowerCase()] = [value].flat().join(', ')
  return joined
}

/** The request as the core is given it. */
export const requestOf = (method: string, path: string, request: Request = {}): CoreRequest => {
  const { query = {}, body = '', requestId: id = 'test' } = request
  return {
    id,
    method,
    path,
    query: new Map(Object.entries(query).map(([name, value]) => [name, [value].flat()])),
    headers: headersOf(request),
    body: { bytes: Buffer.from(typeof body === 'object' ? JSON.stringify(body) : body) },
  }
}

/** The body of an answer, whatever form it has, as text. */
export const textOf = async ({ body }: Pick<CoreAnswer, 'body'>): Promise<string> => {
  if (typeof body === 'string') return body
  return Buffer.from(body instanceof Readable ? Buffer.concat(await body.toArray()) : body).toString()
}

/** Sends a request to a core. */
export const send = async (handler: Handler, method: string, path: string, request: Request = {}): Promise<Answer> => {
  const { remaining = Number.POSITIVE_INFINITY } = request
  const answer = await handler(requestOf(method, path, request), () => remaining)
  const body = await textOf(answer)
  return {
    status: answer.status,
    headers: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value])),
    body,
    json: () => JSON.parse(body),
  }
}
