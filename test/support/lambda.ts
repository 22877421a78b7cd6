import type { Context } from 'aws-lambda'
import type { GatewayEvent, LambdaHandler } from '../../lib/aws/lambda/gateway.ts'
import { answerOf } from './answer.ts'
import type { Request as CoreRequest } from './gateway.ts'

export const gatewayEvent = (path: string, event: Partial<GatewayEvent> = {}): GatewayEvent => ({
  httpMethod: 'GET',
  path,
  multiValueHeaders: {},
  multiValueQueryStringParameters: null,
  body: null,
  isBase64Encoded: false,
  requestContext: {},
  ...event,
})

interface Request extends Omit<CoreRequest, 'body' | 'remaining'> {
  readonly body?: string | object
  readonly isBase64Encoded?: boolean
  /** Milliseconds until Lambda ends the function. */
  readonly remaining?: () => number
}

const multiValued = (values: Readonly<Record<string, string | readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value].flat()]))

const eventOf = (httpMethod: string, path: string, request: Request = {}): GatewayEvent => {
  const { headers = {}, query, body, isBase64Encoded = false, requestId } = request
  const isJson = typeof body === 'object'
  return gatewayEvent(path, {
    httpMethod,
    multiValueHeaders: multiValued({ ...(isJson && { 'Content-Type': 'application/json' }), ...headers }),
    multiValueQueryStringParameters: query ? multiValued(query) : null,
    body: isJson ? JSON.stringify(body) : (body ?? null),
    isBase64Encoded,
    requestContext: requestId === undefined ? {} : { requestId },
  })
}

export const sendEvent = async (handler: LambdaHandler, method: string, path: string, request: Request = {}) => {
  const { statusCode, headers, body, isBase64Encoded } = await handler(eventOf(method, path, request), {
    getRemainingTimeInMillis: request.remaining ?? (() => 25_000),
  } as Context)
  return { ...answerOf(statusCode, headers, body), isBase64Encoded }
}

/** A function that starts with its full time. Its checks then use up nearly all of it. */
export const latecomer = () => {
  let asked = 0
  return () => (asked++ === 0 ? 28_000 : 3_000)
}
