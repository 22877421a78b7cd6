import { hash, timingSafeEqual } from 'node:crypto'
import type { Readable } from 'node:stream'
import { type ErrorName, ServiceError } from '../core/errors.ts'
import type { Deadline } from '../core/time.ts'

export type RequestBody = { readonly bytes: Uint8Array } | { readonly stream: Readable }

/** The stream stays open when the reader stops early. Errors: `broken` when the caller disconnects. */
export async function* bodyChunks(body: RequestBody, broken: ErrorName): AsyncGenerator<Uint8Array, void> {
  if ('bytes' in body) {
    yield body.bytes
    return
  }
  try {
    yield* body.stream.iterator({ destroyOnReturn: false })
  } catch (cause) {
    throw new ServiceError(broken, { message: 'The request body is incomplete. Send it again.', cause })
  }
}

/**
 * `path` is percent-encoded and has no query. `query` is decoded; the values of a repeated name are in their order.
 * Header names are in lower case, and the values of a repeated header are joined by commas. `signal` aborts when just
 * enough time is left to answer. Every answer has the `answerHeaders`, also an error. `address` is the IP address of the
 * caller, or undefined when it is unknown.
 */
export interface Request {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly query: ReadonlyMap<string, readonly string[]>
  readonly rawQuery?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: RequestBody
  readonly signal?: AbortSignal
  readonly answerHeaders?: Readonly<Record<string, string>>
  readonly address?: string
}

export interface RoutedRequest extends Request {
  readonly params: Readonly<Record<string, string>>
  readonly deadline: Deadline
}

export type Switches = ReadonlyMap<string, string>

export const firstValue = (query: Request['query'], name: string): string | undefined => query.get(name)?.[0]

export const queryText = ({ query }: Pick<Request, 'query'>): string => {
  const encoded = (text: string) => encodeURIComponent(text.toWellFormed())
  const pairOf = (name: string, value: string) => encoded(name) + (value && `=${encoded(value)}`)
  return [...query].flatMap(([name, values]) => values.map((value) => pairOf(name, value))).join('&')
}

export const switchesIn = (query: Request['query']): Switches =>
  new Map([...query.keys()].map((name) => [name, firstValue(query, name) ?? '']))

/** The receiver of a stream must read it to its end, or destroy it. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | Readable
  readonly elsewhere?: () => Promise<Answer>
  readonly toStranger?: boolean
}

type Bytes = { readonly receivedBytes?: number; readonly sentBytes?: number }

export interface Sent extends Bytes {
  readonly cut?: unknown
}

/**
 * A request that has its answer. If no byte of the answer could be sent, continue with the result of `withError`, which
 * has the answer for this failure. Call `record` at the end. `cut` is a failure that broke off the answer after its first
 * bytes.
 */
export interface HandledRequest {
  readonly answer: Answer
  readonly withError: (failure: unknown) => HandledRequest
  readonly record: (sent: Sent) => void
}

/** Returns an answer for every failure. `deadline` is `unlimited` when the request has no time limit. */
export type Handler = (request: Request, deadline: Deadline) => Promise<HandledRequest>

export type Format = 'json' | 'xml'

/** The first format is the default. With a single format, `Accept` is ignored. */
export type Formats = readonly [Format, ...Format[]]

export const hasBody = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

// S-133: some old programs send the character set as the content coding, so other values are ignored.
const coding = /\b(gzip|deflate|br|zstd|compress)\b/i

export const refuseCoding = ({ headers }: Pick<Request, 'headers'>, error: ErrorName): void => {
  const name = ['Content-Encoding', 'Transfer-Encoding'].find((one) => coding.test(headers[one.toLowerCase()] ?? ''))
  if (name === undefined) return
  throw new ServiceError(error, { message: `Compressed bytes (${name}) are not supported. Send them uncompressed.` })
}

export const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

export interface Arrival {
  readonly requestId: string
  readonly method: string
  readonly path: string
}

/**
 * `token` is the first 8 hex digits of the token's hash, even for an invalid token. `formats` are those of the route, or
 * of the group until a route is found.
 */
export interface Trace {
  operation: string
  site: number | null
  token: string | null
  formats: Formats
  admitted: boolean
}

/** The record of a request. Never contains tokens, bodies or query strings. */
export interface RequestRecord extends Arrival, Bytes, Readonly<Omit<Trace, 'formats' | 'admitted'>> {
  readonly status: number
  readonly durationMs: number
  readonly error?: unknown
}

export const signInOutcomes = ['signed in', 'refused', 'too many'] as const

/** `name` is set only if a person has this name. Any other name may be a password in the wrong field. */
export interface SignInRecord {
  readonly name: string | null
  readonly address: string | null
  readonly outcome: (typeof signInOutcomes)[number]
  readonly fault?: string
}

export interface Telemetry {
  arrival?(arrival: Arrival): void
  signIn?(record: SignInRecord): void
  request(record: RequestRecord): void
}

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** An IPv4 address that a socket shows as IPv6 becomes IPv4. */
export const plainAddress = (address: string): string => mapped.exec(address)?.[1] ?? address

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

/** Checks a secret. Accepts several secrets, so that requests of a proxy succeed while its secret changes. */
export const createSecretCheck = (secrets: readonly string[]): ((given: unknown) => boolean) => {
  const digests = secrets.map(digest)
  return (given) => {
    if (typeof given !== 'string') return false
    const received = digest(given)
    return digests.some((expected) => timingSafeEqual(expected, received))
  }
}
