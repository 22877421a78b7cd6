import * as z from 'zod/mini'
import type { Grant } from '../access/token.ts'
import { type ErrorName, invalidInput } from '../errors.ts'
import type { DataCentre, Site } from '../sites/site.ts'
import { type Exchange, type RequestBody, settled } from './exchange.ts'
import { type BodyForms, readDocument } from './read-body.ts'
import type { Reply } from './reply.ts'

/** What the pipeline runs when a request of the operation has passed it. */
export type OperationHandler = (exchange: Exchange) => Promise<Reply>

/** What an operation works with: everything about the request that has been found out and checked. */
export interface OperationInput<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The request's path as it came, without the query. */
  readonly path: string
  readonly site: Site
  readonly caller: Grant
  readonly dataCentre: DataCentre
  readonly method: string
  readonly headers: Exchange['headers']
  /** The body as it comes, for operations that read it themselves. */
  readonly content: RequestBody
  readonly remainingTime: Exchange['remainingTime']
}

interface Shape<Params, Query, Body> {
  /** Reads the path's variables; throws the ServiceError that fits when one of them names nothing. */
  readonly params: (params: Readonly<Record<string, string>>) => Params
  /** Reads the query; throws the ServiceError that fits. */
  readonly query?: (query: Exchange['query'], place: { readonly params: Params; readonly site: Site }) => Query
  /** The body's schema, the error for a body that does not fit it, and what else it may come as. */
  readonly body?: { readonly schema: z.core.$ZodType<Body>; readonly malformed: ErrorName } & BodyForms
}

const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text ? `${text}.${String(key)}` : String(key)),
    '',
  )

/** Checks a value against a schema; the error lists everything that is wrong with it. */
export const validate = <Value>(schema: z.core.$ZodType<Value>, value: unknown, malformed: ErrorName): Value => {
  const result = z.safeParse(schema, value)
  if (result.success) return result.data
  throw invalidInput(
    malformed,
    result.error.issues.map(({ path, message }) => ({ path: pathOf(path), message })),
  )
}

/** An operation on a site: parses the request, makes one call into the domain, and answers. */
export const operation =
  <Params, Query = undefined, Body = undefined>(
    { params, query, body }: Shape<Params, Query, Body>,
    run: (input: OperationInput<Params, Query, Body>) => Promise<Reply>,
  ): OperationHandler =>
  async (exchange) => {
    const { group } = settled(exchange.route, 'the route')
    const site = settled(exchange.site, 'the site')
    const value = body && validate(body.schema, await readDocument(exchange, group, body), body.malformed)
    const named = params(settled(exchange.params, 'the path variables'))
    return run({
      params: named,
      query: query?.(exchange.query, { params: named, site }) as Query,
      body: value as Body,
      path: exchange.path,
      site,
      caller: settled(exchange.caller, 'the caller'),
      dataCentre: settled(exchange.dataCentre, 'the data centre'),
      method: exchange.method,
      headers: exchange.headers,
      content: exchange.body,
      remainingTime: exchange.remainingTime,
    })
  }
