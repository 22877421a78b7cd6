import type { Readable } from 'node:stream'
import type { Grant } from '../access/token.ts'
import type { DataCentre, Site } from '../sites/site.ts'
import type { Route } from './route.ts'

/** A request body: in memory when it came within an event, a stream when it comes from a socket. */
export type RequestBody = { readonly bytes: Buffer } | { readonly stream: Readable }

/** A request on its way through the pipeline. What the middlewares find out about it is added as they go. */
export interface Exchange {
  readonly requestId: string
  readonly method: string
  /** As it came: percent-encoded, without the query. */
  readonly path: string
  /** Decoded names and values: those of one name in their order. */
  readonly query: ReadonlyMap<string, readonly string[]>
  /** The query as it came, where the gateway lets that be known. */
  readonly rawQuery?: string
  /** Names in lower case; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: RequestBody
  /** Milliseconds until the platform ends the request; infinite where it never does. */
  readonly remainingTime: () => number

  route?: Route
  /** The path's variables, percent-decoded. */
  params?: Readonly<Record<string, string>>
  caller?: Grant
  site?: Site
  /** The data centre that answers. */
  dataCentre?: DataCentre
  /** Why the request failed, for the log. */
  failure?: unknown
}

/** The value of a member that an earlier middleware has set. */
export const settled = <Value>(value: Value | undefined, member: string): Value => {
  if (value === undefined) throw new Error(`The pipeline uses ${member} before it is known`)
  return value
}
