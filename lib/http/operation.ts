import type * as z from 'zod/mini'
import type { Grant } from '../access/token.ts'
import type { ErrorName } from '../errors.ts'
import type { DataCentre, Site } from '../sites/site.ts'
import { type Exchange, type RequestBody, settled } from './exchange.ts'
import type { BodyForms } from './read-body.ts'
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

interface BodyShape<Body> extends BodyForms {
  /** Loads the body's schema. */
  readonly schema: () => Promise<z.core.$ZodType<Body>>
  /** The error for a body that does not fit it. */
  readonly malformed: ErrorName
}

interface Shape<Params, Query, Body> {
  /** Reads the path's variables; throws the ServiceError that fits when one of them names nothing. */
  readonly params: (params: Readonly<Record<string, string>>) => Params
  /** Reads the query; throws the ServiceError that fits. */
  readonly query?: (
    query: Exchange['query'],
    place: { readonly params: Params; readonly site: Site },
  ) => Query | Promise<Query>
  readonly body?: BodyShape<Body>
}

/**
 * Reads and checks a body. What that takes is loaded with the first one: a function that starts for a read does not wait for it.
 */
const readBody = async <Body>(exchange: Exchange, { schema, malformed, ...forms }: BodyShape<Body>): Promise<Body> => {
  const [{ readDocument }, { validate }, expected] = await Promise.all([
    import('./read-body.ts'),
    import('./validate.ts'),
    schema(),
  ])
  return validate(expected, await readDocument(exchange, malformed, forms), malformed)
}

/** An operation on a site: parses the request, makes one call into the domain, and answers. */
export const operation =
  <Params, Query = undefined, Body = undefined>(
    { params, query, body }: Shape<Params, Query, Body>,
    run: (input: OperationInput<Params, Query, Body>) => Promise<Reply>,
  ): OperationHandler =>
  async (exchange) => {
    const site = settled(exchange.site, 'the site')
    const value = body && (await readBody(exchange, body))
    const named = params(settled(exchange.params, 'the path variables'))
    return run({
      params: named,
      query: (await query?.(exchange.query, { params: named, site })) as Query,
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
