import type { Readable } from 'node:stream'
import { type ErrorName, ServiceError } from '../core/errors.ts'
import type { RemainingTime } from '../core/remaining-time.ts'

/** In memory when the whole request is there already, a stream when it is still on its way. */
export type RequestBody = { readonly bytes: Uint8Array } | { readonly stream: Readable }

/**
 * A request body piece by piece, at the pace of whoever reads it. When that one stops early the stream stays open: who owns it decides
 * what becomes of the rest. Errors: `broken` when the caller goes away before the end.
 */
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

/** A request, wherever it came from. */
export interface Request {
  readonly id: string
  readonly method: string
  /** As it came: percent-encoded, without the query. */
  readonly path: string
  /** Decoded names and values: those of one name in their order. */
  readonly query: ReadonlyMap<string, readonly string[]>
  /** The query as it came, without the question mark, where that is known. */
  readonly rawQuery?: string
  /** Names in lower case; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: RequestBody
  /** Aborted when there is just time left to tell the caller that the time is up. */
  readonly signal?: AbortSignal
}

/** The switches of an operation, by name. */
export type Switches = ReadonlyMap<string, string>

/** The value of a query parameter: of one that is given twice, the first one counts, whatever operation reads it. */
export const firstValue = (query: Request['query'], name: string): string | undefined => query.get(name)?.[0]

export const switchesIn = (query: Request['query']): Switches =>
  new Map([...query.keys()].map((name) => [name, firstValue(query, name) ?? '']))

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Whoever gets a stream reads it or destroys it. */
  readonly body: string | Uint8Array | Readable
  /** What to send in its place where the platform cannot carry these bytes. */
  readonly elsewhere?: () => Promise<Answer>
}

/**
 * Brings an answer to the caller, or into the form in which it travels. When it throws, nothing of the answer has gone out, and
 * another answer is sent in its place. What fails later is told to `cut`: the answer has broken off at the fault of the service.
 */
export type Send<Sent> = (answer: Answer, cut: (failure: unknown) => void) => Sent | Promise<Sent>

/**
 * The core of a group of operations: takes a request and the milliseconds that the platform leaves to it (infinite where it never
 * ends a request), and answers or, given `send`, sees the answer on its way. Whatever fails is answered, the sending included.
 */
export interface Handler {
  (request: Request, remainingTime: RemainingTime): Promise<Answer>
  <Sent>(request: Request, remainingTime: RemainingTime, send: Send<Sent>): Promise<Sent>
}

export const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

/** What is recorded of a request that has just come. */
export interface Arrival {
  readonly requestId: string
  readonly method: string
  /** Without the query. */
  readonly path: string
}

/** What is recorded of a request: never a token, a body or a query string. */
export interface RequestRecord extends Arrival {
  readonly operation: string
  readonly site: number | null
  /** The first 8 hex digits of the hash of the token that came with it, valid or not. */
  readonly token: string | null
  /** As it was sent. */
  readonly status: number
  readonly durationMs: number
  /** Set when the service, and not the caller, is at fault. */
  readonly error?: unknown
}

/** Where records of requests go. */
export interface Telemetry {
  /** Told of each request before anything is done about it. */
  arrival?(arrival: Arrival): void
  request(record: RequestRecord): void
}

/** What has been found out of a request when it ends, however it ends. */
export interface Trace {
  operation: string
  site: number | null
  token: string | null
  /** Whether the route is one that answers JSON whatever is asked for. */
  public: boolean
}
