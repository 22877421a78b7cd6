import type { Context } from 'aws-lambda'
import type { GatewayEvent } from '../../lib/http/gateway.ts'
import type { Handler } from '../../lib/http/pipeline.ts'

export interface Request {
  /** A header with several values has been sent several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly query?: Readonly<Record<string, string | readonly string[]>>
  /** Text as it is; an object as JSON, with its content type. */
  readonly body?: string | object
  readonly isBase64Encoded?: boolean
  readonly requestId?: string
  readonly context?: Partial<Context>
}

export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The body read as JSON. */
  json(): Record<string, unknown>
}

const multiValued = (values: Readonly<Record<string, string | readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value].flat()]))

const eventOf = (httpMethod: string, path: string, request: Request): GatewayEvent => {
  const { headers = {}, query, body, isBase64Encoded = false, requestId } = request
  const isJson = typeof body === 'object'
  return {
    httpMethod,
    path,
    multiValueHeaders: multiValued({ ...(isJson && { 'Content-Type': 'application/json' }), ...headers }),
    multiValueQueryStringParameters: query ? multiValued(query) : null,
    body: isJson ? JSON.stringify(body) : (body ?? null),
    isBase64Encoded,
    requestContext: requestId === undefined ? {} : { requestId },
  }
}

/** Sends a request to a handler as API Gateway does (REST API, proxy integration). */
export const send = async (handler: Handler, method: string, path: string, request: Request = {}): Promise<Answer> => {
  const result = await handler(eventOf(method, path, request), request.context ?? {})
  const headers = Object.entries(result.headers).map(([name, value]) => [name.toLowerCase(), value])
  return {
    status: result.statusCode,
    headers: Object.fromEntries(headers),
    body: result.body,
    json: () => JSON.parse(result.body) as Record<string, unknown>,
  }
}
