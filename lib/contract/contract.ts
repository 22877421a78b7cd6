import * as z from 'zod/mini'
import type { ErrorName } from '../core/errors.ts'
import type { Document } from '../http/reply.ts'
import type { OperationOf, routes } from './routes/routes.ts'

// The vocabulary of the contracts. Operations import only its types, so that no Lambda function contains the contracts.

type Schema = z.core.$ZodType

const count = { type: 'integer', format: 'int64' }

const header = (description: string, schema: Readonly<Record<string, string>> = {}) => ({
  description,
  required: true,
  schema: { type: 'string', ...schema },
})

export const answerHeaders = {
  'X-Request-Id': header('The id of the request. Quote it when you report a fault.'),
  Location: header('The address of the created resource. In a redirect, the address to continue with.'),
  ETag: header('The name of the current state. Send it in If-Match or If-None-Match.'),
  'Last-Modified': header('The time when the file was stored, as an HTTP date.'),
  'Accept-Ranges': header('The unit of `Range`: requests may ask for a part of the file.', { const: 'bytes' }),
  'Content-Range': header('The part of the file that the answer contains.'),
  'X-Content-Length': header(
    'For HEAD: the number of bytes that GET would send. The header has this name, because API Gateway removes ' +
      'Content-Length from answers to HEAD.',
    count,
  ),
  'Cache-Control': header('The rules for caches that keep the answer.'),
  'Upload-Offset': header('The number of bytes of the upload that are stored.', count),
  'Upload-Length': header('The number of bytes of the whole upload.', count),
  'Upload-Defer-Length': header('The length of the upload is not known yet.', { const: '1' }),
  'Upload-Metadata': header('The metadata of the request that created the upload.'),
  'Upload-Expires': header('The time when the upload expires without another append, as an HTTP date.'),
  'Tus-Resumable': header('The version of the upload protocol.', { const: '1.0.0' }),
  'Retry-After': header('Seconds to wait before you repeat the request.', count),
  'X-Accel-Buffering': header('Tells proxies to pass on a stream at once.', { const: 'no' }),
  'WWW-Authenticate': header('The way to send a token.', { const: 'Bearer' }),
  Allow: header('The methods that are allowed here.'),
}

export type HeaderName = keyof typeof answerHeaders

type Immutable<Value> = Value extends readonly (infer Entry)[]
  ? readonly Immutable<Entry>[]
  : Value extends object
    ? { readonly [Member in keyof Value]: Immutable<Value[Member]> }
    : Value

export type Answer<AnswerSchema extends Schema> = Immutable<z.output<AnswerSchema>>

export interface ParameterContract {
  readonly description: string
  readonly schema: Schema
  readonly example: string | number
  readonly required?: true
  /** The operation needs one of several switches, and the reference page sends this switch. */
  readonly sentByDefault?: true
}

export type ParameterContracts = Readonly<Record<string, ParameterContract>>

export interface BodyContract {
  readonly schema: Schema
  readonly mediaTypes?: Readonly<Record<string, Schema>>
  readonly xml?: Document['xml']
  readonly optional?: true
  readonly description?: string
}

export interface AnswerContract {
  readonly description: string
  /** For an answer that no example request gets. */
  readonly example?: string
  readonly schema?: Schema
  readonly xml?: Document['xml']
  readonly mediaTypes?: readonly string[]
  readonly headers?: readonly HeaderName[]
  readonly optionalHeaders?: readonly HeaderName[]
  /**
   * The operations that can follow. Each value says where in this answer the caller finds a path variable of the next
   * request.
   */
  readonly links?: Readonly<Partial<Record<(typeof routes)[number]['operation'], Readonly<Record<string, string>>>>>
}

/**
 * A request whose answer is shown as an example. The requests are sent in the order of the route table, to the service
 * that tools/openapi/examples.ts prepares.
 */
export interface ExampleRequest {
  /** Replaces the examples of the path's parameters. */
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
  readonly shown?: object
}

export interface OperationContract {
  readonly tag?: GroupTag
  readonly summary: string
  readonly description?: string
  readonly query?: ParameterContracts
  /** Replaces the group's examples of path variables. */
  readonly pathExamples?: Readonly<Record<string, string | number>>
  readonly headers?: ParameterContracts
  readonly body?: BodyContract
  readonly answers: Readonly<Record<number, AnswerContract>>
  /** Errors that the operation itself throws. The errors of the checks before it follow from its route. */
  readonly errors?: readonly ErrorName[]
  /** Without examples, one request with the examples of the parameters is recorded. */
  readonly examples?: readonly ExampleRequest[]
}

interface GroupTag {
  readonly name: string
  readonly description: string
}

export interface GroupContract<Group extends string> {
  readonly tag: GroupTag
  /** The answers are too large for the document or differ between runtimes, so it shows their addresses instead. */
  readonly shownByAddress?: true
  readonly parameters: ParameterContracts
  readonly operations: Readonly<Record<OperationOf<Group>, OperationContract>>
}

export const described = <Own extends Schema>(schema: Own, description: string): Own => {
  z.globalRegistry.add(schema, { description })
  return schema
}

export const named = <Own extends Schema>(schema: Own, id: string, description?: string, more: object = {}): Own => {
  z.globalRegistry.add(schema, { id, ...(description !== undefined && { description }), ...more })
  return schema
}

export const component = <Shape extends z.core.$ZodShape>(id: string, description: string, shape: Shape) =>
  named(z.object(shape), id, description)

export const parameter = (description: string, example: string | number, schema: Schema): ParameterContract => ({
  description,
  example,
  schema,
})

export const text = (description: string, example: string): ParameterContract =>
  parameter(description, example, z.string())

/** A parameter that only has to be present. */
export const flag = (description: string): ParameterContract => text(`${description} The parameter needs no value.`, '')

/**
 * The parameters of a schema. Each needs a text and an example, and some need another schema that JSON Schema can
 * express.
 */
export const switchesOf = <Shape extends z.core.$ZodShape>(
  { shape }: { readonly shape: Shape },
  texts: { readonly [Name in keyof Shape]: readonly [description: string, example: string | number, schema?: Schema] },
): ParameterContracts =>
  Object.fromEntries(
    Object.entries(shape).map(([name, own]) => {
      const [description, example, schema = own] = texts[name as keyof Shape]
      return [name, parameter(description, example, schema)]
    }),
  )

const answering =
  (status: number) =>
  (description: string, schema?: Schema, more: Omit<AnswerContract, 'description'> = {}) => ({
    [status]: { description, ...(schema && { schema }), ...more },
  })

export const ok = answering(200)
export const created = answering(201)

export const siteParameter = parameter(
  'The id of the site. `current` stands for the only site that the token covers.',
  'current',
  z.string().check(z.regex(/^(?:current|[1-9]\d*)$/)),
)

export const link = component(
  'Link',
  'A link. `uri` is the absolute URL of the target, or null if the link has no target.',
  { rel: z.string(), uri: z.nullable(z.string()) },
)
