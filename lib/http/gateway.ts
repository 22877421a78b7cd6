import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import type { Exchange, RequestBody } from './exchange.ts'
import type { RenderedReply } from './reply.ts'

type ProxyEvent = Pick<
  APIGatewayProxyEvent,
  'httpMethod' | 'path' | 'multiValueHeaders' | 'multiValueQueryStringParameters' | 'body' | 'isBase64Encoded'
>

/** A REST API proxy event. A server that reads from a socket hands over the body as a stream in place of `body`. */
export interface GatewayEvent extends ProxyEvent {
  readonly requestContext?: { readonly requestId?: string }
  /** As it came, without the question mark. A REST API has none to hand over. */
  readonly rawQueryString?: string
  readonly bodyStream?: Readable
}

export interface GatewayResult {
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly body: string
  readonly isBase64Encoded: boolean
  /** Set in place of `body` for a server that handed over a stream itself; whoever gets it reads it or destroys it. */
  readonly bodyStream?: Readable
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

const bodyOf = ({ bodyStream, body, isBase64Encoded }: GatewayEvent): RequestBody =>
  bodyStream ? { stream: bodyStream } : { bytes: Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8') }

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

export const fromGateway = (
  event: GatewayEvent,
  context: Partial<Context>,
  pathEncoding: PathEncoding = 'encoded',
): Exchange => ({
  requestId: event.requestContext?.requestId ?? randomUUID(),
  method: event.httpMethod,
  path: pathOf(event, pathEncoding),
  query: queryOf(event),
  ...(event.rawQueryString !== undefined && { rawQuery: event.rawQueryString }),
  headers: headersOf(event),
  body: bodyOf(event),
  remainingTime: () => context.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY,
})

/** The result for whoever sent the event: bytes go to a server as a stream, and to API Gateway in base64. */
export const toGateway = async (
  { status: statusCode, headers: head, body }: RenderedReply,
  { bodyStream: streams }: GatewayEvent,
): Promise<GatewayResult> => {
  const headers = { ...head }
  if (typeof body === 'string') return { statusCode, headers, body, isBase64Encoded: false }
  if (streams) return { statusCode, headers, body: '', isBase64Encoded: false, bodyStream: body }
  const bytes = Buffer.concat(await body.toArray())
  return { statusCode, headers, body: bytes.toString('base64'), isBase64Encoded: true }
}
