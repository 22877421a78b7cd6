import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Answer, Request } from '../../http/request.ts'

type ProxyEvent = Pick<
  APIGatewayProxyEvent,
  'httpMethod' | 'path' | 'multiValueHeaders' | 'multiValueQueryStringParameters' | 'body' | 'isBase64Encoded'
>

/** A REST API proxy event. */
export interface GatewayEvent extends ProxyEvent {
  readonly requestContext?: {
    readonly requestId?: string
    /** The path with the stage in front of it. */
    readonly path?: string
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
 * Whether a gateway hands over `event.path` as the caller wrote it, or percent-decoded.
 * AWS's REST APIs hand it over as it came, and decode `pathParameters` only, as captures of live gateways show
 * (https://github.com/middleapi/standard-server/pull/93); so does LocalStack ("Base path is not URL-decoded", in its parse.py).
 * MiniStack decodes it once.
 */
export type PathEncoding = 'encoded' | 'decoded'

/**
 * Only LocalStack leaves out slashes at the beginning of a path, and not in its context. A stage that is asked for without a slash at its end has one in the
 * path, and not in the context: what is relative to the answer depends on it.
 */
const withItsSlashes = ({ path, requestContext }: GatewayEvent): string => {
  const inContext = requestContext?.path
  if (path === '/' && inContext !== undefined && !inContext.endsWith('/')) return ''
  return inContext?.endsWith(`/${path}`) ? `/${path}` : path
}

/**
 * The path as the caller wrote it, as far as the gateway lets that be known: of a decoded path, `%2F` cannot be told from `/`.
 * Nothing but this looks at how a path arrives.
 */
const pathOf = (event: GatewayEvent, encoding: PathEncoding): string =>
  encoding === 'encoded'
    ? withItsSlashes(event)
    : event.path.toWellFormed().split('/').map(encodeURIComponent).join('/')

/** A name or a value of a form. Throws a URIError when it is none. */
const decodeFormText = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

/**
 * JSON that was declared as a form, out of what LocalStack makes of it: it reads every form and writes it anew, so that the text has
 * become a name (`%7B%22a%22%3A1%7D=`), or several where it held `&` or `=`. Any other form stays as it is.
 */
const jsonOutOfForm = (form: string): string => {
  if (!/^%[57]B[^&]*=/i.test(form)) return form
  try {
    const text = form
      .split('&')
      .map((pair) => pair.split('=', 2).map(decodeFormText))
      .map(([name = '', value = '']) => (value === '' ? name : `${name}=${value}`))
      .join('&')
    JSON.parse(text)
    return text
  } catch {
    return form
  }
}

/** AWS hands over every body in base64, since all are binary there: what is text has come through an emulator. */
const bytesOfBody = ({ body, isBase64Encoded }: GatewayEvent, type: string): Buffer => {
  if (!body) return Buffer.alloc(0)
  if (isBase64Encoded) return Buffer.from(body, 'base64')
  return Buffer.from(/^application\/x-www-form-urlencoded\b/i.test(type) ? jsonOutOfForm(body) : body)
}

/** The request of an event. `signal` is aborted when there is just time left for an answer. */
export const fromGateway = (event: GatewayEvent, encoding: PathEncoding, signal: AbortSignal): Request => {
  const headers = headersOf(event)
  return {
    id: event.requestContext?.requestId ?? randomUUID(),
    method: event.httpMethod,
    path: pathOf(event, encoding),
    query: queryOf(event),
    headers,
    body: { bytes: bytesOfBody(event, headers['content-type'] ?? '') },
    signal,
  }
}

const bytesOf = async (body: Readable | Uint8Array): Promise<Buffer> =>
  body instanceof Readable
    ? Buffer.concat(await body.toArray())
    : Buffer.from(body.buffer, body.byteOffset, body.length)

/** A result of Lambda has 6 MB at most; the headers stand beside the body. In bytes. */
const largestText = 5_900_000

/** Whether a text stays below that within JSON, where quotes and ends of lines take two bytes. Only large ones need to be measured. */
const isSmallInJson = (text: string, length: number): boolean =>
  length * 2 < largestText || Buffer.byteLength(JSON.stringify(text)) < largestText

/** Characters that no text has. Within JSON each takes six bytes. */
const controlCharacter = /[^\P{Cc}\t\n\r]/u

/**
 * The bytes as text, when they are one: text reaches every caller as it is, base64 only some. To find out takes 7 ms for 4 MiB, base64 35.
 */
const textOf = (bytes: Buffer): string | undefined => {
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  return !controlCharacter.test(text) && isSmallInJson(text, bytes.length) ? text : undefined
}

/** For which `Accept` a gateway turns base64 into bytes: any that there is, or one that names a type first (LocalStack, `madeUp`). */
export type BinaryAccept = 'any' | 'named'

/** What LocalStack tells of callers who have sent no `Accept`, and gives base64 to. */
const madeUp = 'application/json'

/**
 * Whether a caller is given the bytes that base64 stands for. REST APIs decide that by `Accept`: without it, callers are given the base64,
 * by what is measured of API Gateway (https://github.com/localstack/localstack/pull/12199). AWS has not said that the binary media type
 * of everything changes that.
 */
const isGivenBytes = (accept: string, binaryAccept: BinaryAccept): boolean =>
  binaryAccept === 'any' ? accept !== '' : accept !== madeUp && /^\s*[^*\s/]+\//.test(accept)

/** How the answer to a request travels. */
interface Way {
  /** Empty where the caller has sent none. */
  readonly accept: string
  readonly binaryAccept: BinaryAccept
}

/** The result for API Gateway, which takes an answer whole. Throws what the stream of the answer throws. */
export const toGateway = async (answer: Answer, way: Way): Promise<GatewayResult> => {
  const { status: statusCode, body, elsewhere } = answer
  const headers = { ...answer.headers }
  if (typeof body === 'string') return { statusCode, headers, body, isBase64Encoded: false }
  const bytes = await bytesOf(body)
  const text = textOf(bytes)
  if (text !== undefined) return { statusCode, headers, body: text, isBase64Encoded: false }
  if (elsewhere && !isGivenBytes(way.accept, way.binaryAccept)) return toGateway(await elsewhere(), way)
  return { statusCode, headers, body: bytes.toString('base64'), isBase64Encoded: true }
}
