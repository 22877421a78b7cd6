import type * as z from 'zod/mini'
import type { Grant } from '../access/grants.ts'
import type { ErrorName } from '../core/errors.ts'
import type { Author } from '../core/history-entry.ts'
import type { RemainingTime } from '../core/remaining-time.ts'
import type { DataCentre, Site } from '../sites/site-directory.ts'
import type { BodyForms } from './read-body.ts'
import type { Reply } from './reply.ts'
import { type Request, type RequestBody, type Switches, switchesIn } from './request.ts'

/** A request whose route is known. */
export interface RoutedRequest extends Request {
  /** The path's variables, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly remainingTime: RemainingTime
}

/** A request that has passed every check of decisions.md, section 1, before the size of its body. */
export interface AdmittedRequest extends RoutedRequest {
  readonly caller: Grant
  readonly site: Site
  /** The data centre that answers. */
  readonly dataCentre: DataCentre
}

/** What runs when a request of the operation has been admitted. */
export type OperationHandler = (request: AdmittedRequest) => Promise<Reply>

/** What an operation works with: everything about the request that has been found out and checked. */
export interface OperationInput<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The request's path as it came, without the query. */
  readonly path: string
  readonly site: Site
  readonly caller: Grant
  /** Who is the author of what the operation changes. */
  readonly author: Author
  readonly dataCentre: DataCentre
  readonly method: string
  readonly headers: Request['headers']
  /** The body as it comes, for operations that read it themselves. */
  readonly content: RequestBody
  readonly remainingTime: AdmittedRequest['remainingTime']
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
  readonly query?: (query: Switches, target: { readonly params: Params; readonly site: Site }) => Query | Promise<Query>
  readonly body?: BodyShape<Body>
}

/**
 * Reads and checks a body. What that takes is loaded with the first one: a function that starts for a read does not wait for it.
 */
const readBody = async <Body>(request: Request, { schema, malformed, ...forms }: BodyShape<Body>): Promise<Body> => {
  const [{ readDocument }, { validate }, expected] = await Promise.all([
    import('./read-body.ts'),
    import('./validate.ts'),
    schema(),
  ])
  return validate(expected, await readDocument(request, malformed, forms), malformed)
}

/** The variables of a path that has none but the site. */
export const noParams = () => ({})

/** An operation on a site: parses the request, makes one call into the domain, and answers. */
export const operation =
  <Params, Query = undefined, Body = undefined>(
    { params, query, body }: Shape<Params, Query, Body>,
    run: (input: OperationInput<Params, Query, Body>) => Promise<Reply>,
  ): OperationHandler =>
  async (request) => {
    const { id, site, caller, dataCentre, method, path, headers, remainingTime } = request
    const value = body && (await readBody(request, body))
    const named = params(request.params)
    return run({
      params: named,
      query: (query && (await query(switchesIn(request.query), { params: named, site }))) as Query,
      body: value as Body,
      path,
      site,
      caller,
      author: { actor: caller.user, requestId: id },
      dataCentre,
      method,
      headers,
      content: request.body,
      remainingTime,
    })
  }
