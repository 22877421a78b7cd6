import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import middy from '@middy/core'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import type { AccessSettings } from '../../config/config.ts'
import { streaming } from '../../config/functions.ts'
import { ServiceError } from '../../core/errors.ts'
import { mediaType } from '../../core/headers.ts'
import { createDeadline, reserves } from '../../core/time.ts'
import { untilAborted } from '../../http/handler.ts'
import { type Answer, createSecretCheck, type Handler, plainAddress, type Request } from '../../http/request.ts'

type ProxyEvent = Pick<
  APIGatewayProxyEvent,
  'httpMethod' | 'path' | 'multiValueHeaders' | 'multiValueQueryStringParameters' | 'body' | 'isBase64Encoded'
>

export interface GatewayEvent extends ProxyEvent {
  readonly requestContext?: {
    readonly requestId?: string
    readonly path?: string
    readonly identity?: { readonly sourceIp?: string | null }
  }
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
 * The form of `event.path`. REST APIs of AWS pass on the path as the caller wrote it and decode only `pathParameters`,
 * as recorded events show (https://github.com/middleapi/standard-server/pull/93). LocalStack does the same. MiniStack
 * decodes the path once.
 */
export type PathEncoding = AccessSettings['pathEncoding']

// LocalStack drops slashes at the beginning of a path, but not in the context of the event. If a request for a stage
// has no slash at its end, LocalStack adds one to the path, but not in the context. Relative URLs depend on this slash.
const withItsSlashes = ({ path, requestContext }: GatewayEvent): string => {
  const inContext = requestContext?.path
  if (path === '/' && inContext !== undefined && !inContext.endsWith('/')) return ''
  return inContext?.endsWith(`/${path}`) ? `/${path}` : path
}

// Returns the path as the caller wrote it. In a decoded path, `%2F` and `/` would look the same.
const pathOf = (event: GatewayEvent, encoding: PathEncoding): string =>
  encoding === 'encoded'
    ? withItsSlashes(event)
    : event.path.toWellFormed().split('/').map(encodeURIComponent).join('/')

// Restores JSON that was declared as a form. LocalStack parses and rewrites every form, so the JSON text has
// become a name (`%7B%22a%22%3A1%7D=`), or several names if it contained `&` or `=`.
const jsonOutOfForm = (form: string): string => {
  if (!/^%[57]B[^&]*=/i.test(form)) return form
  try {
    const text = form
      .split('&')
      .map((pair) => pair.split('=', 2).map((part) => decodeURIComponent(part.replaceAll('+', ' '))))
      .map(([name = '', value = '']) => (value === '' ? name : `${name}=${value}`))
      .join('&')
    JSON.parse(text)
    return text
  } catch {
    return form
  }
}

// On AWS every body is base64. Only emulators send text.
const bytesOfBody = ({ body, isBase64Encoded }: GatewayEvent, type: string | undefined): Buffer => {
  if (!body) return Buffer.alloc(0)
  if (isBase64Encoded) return Buffer.from(body, 'base64')
  return Buffer.from(mediaType(type) === 'application/x-www-form-urlencoded' ? jsonOutOfForm(body) : body)
}

const viewerAddress = /^\[?([\da-f.:]+?)\]?:\d+$/i

export const fromGateway = (
  event: GatewayEvent,
  encoding: PathEncoding,
  signal: AbortSignal,
  isSecret: (given: unknown) => boolean,
): Request => {
  const headers = headersOf(event)
  const bytes = bytesOfBody(event, headers['content-type'])
  // REST APIs drop this header, as events in the documentation of AWS show. The body is complete, so its length is
  // known.
  headers['content-length'] = String(bytes.length)
  // the gateway sees only the address of the distribution, if the distribution has passed on the request.
  const address = isSecret(headers[streaming.secretHeader])
    ? viewerAddress.exec(headers['cloudfront-viewer-address'] ?? '')?.[1]
    : event.requestContext?.identity?.sourceIp
  return {
    id: event.requestContext?.requestId ?? randomUUID(),
    method: event.httpMethod,
    path: pathOf(event, encoding),
    query: queryOf(event),
    headers,
    body: { bytes },
    signal,
    ...(address != null && { address: plainAddress(address) }),
  }
}

const bytesOf = async (body: Readable | Uint8Array): Promise<Buffer> => {
  if (!(body instanceof Readable)) return Buffer.from(body.buffer, body.byteOffset, body.length)
  try {
    return Buffer.concat(await body.toArray())
  } catch (cause) {
    throw cause instanceof ServiceError ? cause : new ServiceError('unavailable', { cause })
  }
}

// In bytes. A result of Lambda has at most 6 MB, with the headers.
const largestText = 5_900_000

// Bytes that occur in no text, and that take six bytes each in JSON.
const controlCharacter = /[^\P{Cc}\t\n\r]/u

// Returns the bytes as text, if they are text. Every caller gets text unchanged, but the gateway decodes base64 only
// for some callers. The check takes 7 ms for 4 MiB, and base64 takes 35 ms. In JSON, quotes and line ends take two
// bytes. Only large texts are measured.
const textOf = (bytes: Buffer): string | undefined => {
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  if (controlCharacter.test(text)) return undefined
  const isSmall = bytes.length * 2 < largestText || Buffer.byteLength(JSON.stringify(text)) < largestText
  return isSmall ? text : undefined
}

// `binaryAccept` is the `Accept` for which a gateway turns base64 into bytes: any, or one that names a type first
// (LocalStack).
type Caller = Pick<AccessSettings, 'binaryAccept'> & { readonly accept: string }

// REST APIs decode base64 only for callers that send `Accept`, as measured
// (https://github.com/localstack/localstack/pull/12199). For other callers, LocalStack passes on the default, and expects
// base64.
const defaultAccept = 'application/json'
const isDecoded = ({ accept, binaryAccept }: Caller): boolean =>
  binaryAccept === 'any' ? accept !== '' : accept !== defaultAccept && /^\s*[^*\s/]+\//.test(accept)

export const toGateway = async (answer: Answer, caller: Caller): Promise<GatewayResult> => {
  const { status: statusCode, body, elsewhere } = answer
  const headers = { ...answer.headers }
  if (typeof body === 'string') return { statusCode, headers, body, isBase64Encoded: false }
  const bytes = await bytesOf(body)
  const text = textOf(bytes)
  if (text !== undefined) return { statusCode, headers, body: text, isBase64Encoded: false }
  if (elsewhere && !isDecoded(caller)) return toGateway(await elsewhere(), caller)
  return { statusCode, headers, body: bytes.toString('base64'), isBase64Encoded: true }
}

export type LambdaHandler = (event: GatewayEvent, context: Context) => Promise<GatewayResult>

/**
 * The entry of a Lambda function behind API Gateway. Shortly before the time is up, middy aborts the signal of the
 * request, and the core answers 503 and logs the request. The early answer of middy must not replace this answer, so
 * the promise of middy's answer never settles.
 */
export const lambdaHandler = (
  handler: Handler,
  settings: Partial<Pick<AccessSettings, 'pathEncoding' | 'binaryAccept' | 'originSecrets'>> = {},
): LambdaHandler => {
  const { pathEncoding = 'encoded', binaryAccept = 'any', originSecrets = [] } = settings
  const isSecret = createSecretCheck(originSecrets)
  return middy<GatewayEvent, GatewayResult>({
    timeoutEarlyInMillis: reserves.answer,
    timeoutEarlyResponse: () => new Promise(() => {}),
  }).handler(async (event, context, { signal }) => {
    const request = fromGateway(event, pathEncoding, signal, isSecret)
    const caller = { accept: request.headers['accept'] ?? '', binaryAccept }
    const deadline = createDeadline(() => context.getRemainingTimeInMillis())
    const receivedBytes = Number(request.headers['content-length'])
    let handled = await handler(request, deadline)
    const result = await untilAborted(toGateway(handled.answer, caller), request).catch((failure) => {
      handled = handled.withError(failure)
      return toGateway(handled.answer, caller)
    })
    handled.record({
      receivedBytes,
      sentBytes: Buffer.byteLength(result.body, result.isBase64Encoded ? 'base64' : 'utf8'),
    })
    return result
  })
}
