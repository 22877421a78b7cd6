import type { Readable } from 'node:stream'
import type { Deadline } from '../core/deadline.ts'
import { type ErrorName, ServiceError } from '../core/errors.ts'

export type RequestBody = { readonly bytes: Uint8Array } | { readonly stream: Readable }

/** The stream stays open when the reader stops early. Errors: `broken` when the caller disconnects. */
export async function* bodyChunks(body: RequestBody, broken: ErrorName): AsyncGenerator<Uint8Array, void> {
  if ('bytes' in body) {
    if (body.bytes.length > 0) yield body.bytes
    return
  }
  try {
    yield* body.stream.iterator({ destroyOnReturn: false })
  } catch (cause) {
    throw new ServiceError(broken, { message: 'The request body breaks off before its end.', cause })
  }
}

export interface Request {
  readonly id: string
  readonly method: string
  // Percent-encoded, without the query.
  readonly path: string
  // Decoded; the values of a repeated name in their order.
  readonly query: ReadonlyMap<string, readonly string[]>
  // Without its question mark, where it is known.
  readonly rawQuery?: string
  // Names in lower case; repeated headers joined by a comma.
  readonly headers: Readonly<Record<string, string>>
  readonly body: RequestBody
  // Aborts when there is just enough time left to answer.
  readonly signal?: AbortSignal
}

export type Switches = ReadonlyMap<string, string>

// Of a repeated parameter, the first one counts.
export const firstValue = (query: Request['query'], name: string): string | undefined => query.get(name)?.[0]

export const switchesIn = (query: Request['query']): Switches =>
  new Map([...query.keys()].map((name) => [name, firstValue(query, name) ?? '']))

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // The receiver of a stream reads or destroys it.
  readonly body: string | Uint8Array | Readable
  // The answer to send when the platform cannot carry these bytes.
  readonly elsewhere?: () => Promise<Answer>
}

/** Throws only while another answer can still be sent in its place. Reports a later failure to `cut`. */
export type Send<Sent> = (answer: Answer, cut: (failure: unknown) => void) => Sent | Promise<Sent>

/** Every failure is answered, those of `send` included. `deadline` is `unlimited` when the request may take any time. */
export interface Handler {
  (request: Request, deadline: Deadline): Promise<Answer>
  <Sent>(request: Request, deadline: Deadline, send: Send<Sent>): Promise<Sent>
}

export const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

export interface Arrival {
  readonly requestId: string
  readonly method: string
  // Without the query.
  readonly path: string
}

export interface Trace {
  operation: string
  site: number | null
  // The first 8 hex digits of the token's hash, valid or not.
  token: string | null
  // The route answers JSON, whatever `Accept` prefers.
  public: boolean
}

/** The record of a request. Never contains tokens, bodies or query strings. */
export interface RequestRecord extends Arrival, Readonly<Omit<Trace, 'public'>> {
  readonly status: number
  readonly durationMs: number
  // Only when the service is at fault.
  readonly error?: unknown
}

export interface Telemetry {
  // Called before anything else is done with the request.
  arrival?(arrival: Arrival): void
  request(record: RequestRecord): void
}
