import type * as z from 'zod/mini'
import type { Caller, SiteCaller } from '../access/grants.ts'
import type { ErrorName } from '../core/errors.ts'
import type { Author } from '../core/history-entry.ts'
import type { DataCentre, Site } from '../sites/site-directory.ts'
import { type Admission, type CallerDeps, callerAfterBody } from './admitted-caller.ts'
import type { BodyForms } from './read-body.ts'
import type { Reply } from './reply.ts'
import { type Request, type RequestBody, type RoutedRequest, type Switches, switchesIn } from './request.ts'

export type Segments = RoutedRequest['params']

interface AdmittedRequest extends RoutedRequest {
  readonly caller: SiteCaller
  readonly site: Site
  readonly dataCentre: DataCentre
  readonly admission: Admission
}

export type Operation<Admitted, Deps> = (request: Admitted, deps: Deps) => Promise<Reply>
export type OperationHandler<Deps = unknown> = Operation<AdmittedRequest, Deps>
export type PublicOperation<Deps = unknown> = Operation<RoutedRequest, Deps>
/** Accepts any valid token, in every data centre. */
export type CallerOperation<Deps = unknown> = Operation<RoutedRequest & { readonly caller: Caller }, Deps>

export interface OperationInput<Params = unknown, Query = unknown, Body = unknown>
  extends Omit<AdmittedRequest, 'params' | 'query' | 'body'> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly author: Author
  readonly content: RequestBody
}

export interface BodyShape<Body> extends BodyForms {
  readonly schema: () => Promise<z.core.$ZodType<Body>>
  readonly malformed: ErrorName
}

// Schemas and readers load with the first body that needs them. `malformed` is the error for a body that does not
// match.
export const bodiesOf =
  <Schemas>({ schemas, ...how }: Omit<BodyShape<unknown>, 'schema'> & { readonly schemas: () => Promise<Schemas> }) =>
  <Name extends keyof Schemas>(name: Name) => ({ ...how, schema: async () => (await schemas())[name] })

interface Shape<Params, Query, Body> {
  readonly params?: (params: Segments, caller: SiteCaller) => Params
  readonly query?: (
    query: Switches,
    target: Pick<AdmittedRequest, 'site' | 'dataCentre'> & { readonly params: Params },
  ) => Query | Promise<Query>
  readonly body?: BodyShape<Body>
}

export const checkDocument = async <Body>(document: unknown, { schema, malformed }: BodyShape<Body>) => {
  const [{ validate }, expected] = await Promise.all([import('./validate.ts'), schema()])
  return validate(expected, document, malformed)
}

export const readBody = async <Body>(request: Request, shape: BodyShape<Body>) => {
  const { readDocument } = await import('./read-body.ts')
  return checkDocument(await readDocument(request, shape.malformed, shape), shape)
}

/** Loads the schema only when the query has one of the switches: most requests have none. Errors: `malformed`. */
export const readSwitches = async <Values extends object>(
  query: Switches,
  names: readonly (string & keyof Values)[],
  shape: BodyShape<Values>,
): Promise<Partial<Values>> => {
  if (!names.some((name) => query.has(name))) return {}
  return checkDocument(Object.fromEntries(names.map((name) => [name, query.get(name)])), shape)
}

export const operationsOn =
  <Deps extends { readonly edge: CallerDeps }>() =>
  <Params = undefined, Query = undefined, Body = undefined>(
    { params, query, body }: Shape<Params, Query, Body>,
    run: (input: OperationInput<Params, Query, Body>, deps: Deps) => Promise<Reply>,
  ): OperationHandler<Deps> =>
  async (request, deps) => {
    const value = body && (await readBody(request, body))
    const caller = body ? await callerAfterBody(deps.edge, request.admission) : request.caller
    const target = { ...request, caller, params: params?.(request.params, caller) as Params }
    const input = {
      ...target,
      query: (query && (await query(switchesIn(request.query), target))) as Query,
      body: value as Body,
      author: { actor: caller.user, requestId: request.id },
      content: request.body,
    }
    return run(input, deps)
  }
