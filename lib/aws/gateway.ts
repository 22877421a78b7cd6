import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Answer, Request } from '../http/request.ts'

type ProxyEvent = Pick<
  APIGatewayProxyEvent,
  'httpMethod' | 'path' | 'multiValueHeaders' | 'multiValueQueryStringParameters' | 'body' | 'isBase64Encoded'
>

/** A REST API proxy event. */
export interface GatewayEvent extends ProxyEvent {
  readonly requestContext?: { readonly requestId?: string }
}

export interface GatewayResult {
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly body: string
  readonly isBase64Encoded: boolean
}

const headersOf = (event: GatewayEvent): Record<string, string> => {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, values] of Object.entries(event.multiValueHeaders ?? {})) {
    if (values) headers[name.toLowerCase()] = values.join(', ')
  }
  return headers
}

const queryOf = ({ multiValueQueryStringParameters: query }: GatewayEvent): Map<string, string[]> =>
  new Map(Object.entries(query ?? {}).flatMap(([name, values]) => (values ? [[name, values]] : [])))

/**
 * Whether a gateway hands over `event.path` as the caller wrote it, or percent-decoded.
 * AWS's REST APIs hand it over as it came, and decode `pathParameters` only, as captures of live gateways show
 * (https://github.com/middleapi/standard-server/pull/93); so does LocalStack ("Base path is not URL-decoded", in its parse.py).
 * MiniStack decodes it once.
 */
export type PathEncoding = 'encoded' | 'decoded'

/**
 * The path as the caller wrote it, as far as the gateway lets that be known: of a decoded path, `%2F` cannot be told from `/`.
 * Nothing but this looks at how a path arrives.
 */
const pathOf = ({ path }: GatewayEvent, encoding: PathEncoding): string =>
  encoding === 'encoded' ? path : path.toWellFormed().split('/').map(encodeURIComponent).join('/')

/** The request of an event. `signal` is aborted when there is just time left for an answer. */
export const fromGateway = (event: GatewayEvent, encoding: PathEncoding, signal: AbortSignal): Request => ({
  id: event.requestContext?.requestId ?? randomUUID(),
  method: event.httpMethod,
  path: pathOf(event, encoding),
  query: queryOf(event),
  headers: headersOf(event),
  body: { bytes: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8') },
  signal,
})

const bytesOf = async (body: Readable | Uint8Array): Promise<Buffer> =>
  body instanceof Readable
    ? Buffer.concat(await body.toArray())
    : Buffer.from(body.buffer, body.byteOffset, body.length)

/** The result for API Gateway, which takes an answer whole, and bytes in base64. Throws what the stream of the answer throws. */
export const toGateway = async ({ status: statusCode, headers: head, body }: Answer): Promise<GatewayResult> => {
  const headers = { ...head }
  if (typeof body === 'string') return { statusCode, headers, body, isBase64Encoded: false }
  return { statusCode, headers, body: (await bytesOf(body)).toString('base64'), isBase64Encoded: true }
}
