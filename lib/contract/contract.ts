import * as z from 'zod/mini'
import type { ErrorName } from '../core/errors.ts'
import type { Document } from '../http/reply.ts'
import type { OperationOf, routes } from './routes/routes.ts'

/**
 * What the contracts of the groups (`functions/<group>/contract.ts`) are written in. Only the document loads them: what
 * answers requests imports types from here, and nothing else.
 */

type Schema = z.core.$ZodType

type Immutable<Value> = Value extends readonly (infer Entry)[]
  ? readonly Immutable<Entry>[]
  : Value extends object
    ? { readonly [Member in keyof Value]: Immutable<Value[Member]> }
    : Value

/** What an operation answers, as its schema has it: what is written and what is said of it cannot drift apart. */
export type Answer<AnswerSchema extends Schema> = Immutable<z.output<AnswerSchema>>

/** A variable of a path, a switch of a query or a request header. */
export interface ParameterContract {
  readonly description: string
  readonly schema: Schema
  readonly example: string | number
  readonly required?: true
  /** A switch that the operation is refused without, unless another one is there: the reference page sends it at first. */
  readonly sentAtFirst?: true
}

export type ParameterContracts = Readonly<Record<string, ParameterContract>>

export interface BodyContract {
  /** The very schema that the edge checks bodies with. */
  readonly schema: Schema
  /** What the schema checks by a function, and so cannot say itself, in the words of JSON Schema. */
  readonly also?: Readonly<Record<string, unknown>>
  /** The media types that it comes in, each with its schema, where they are not those of its group. */
  readonly mediaTypes?: Readonly<Record<string, Schema>>
  /** What its root element is called in XML; any other name is understood as well. */
  readonly xml?: Document['xml']
  readonly optional?: true
  readonly description?: string
}

export interface AnswerContract {
  readonly description: string
  /** Absent where the body is empty. */
  readonly schema?: Schema
  readonly xml?: Document['xml']
  /** The media types of a body that is not a document, such as that of a file. */
  readonly mediaTypes?: readonly string[]
  /** Names of headers that it carries beside those of every answer. */
  readonly headers?: readonly HeaderName[]
  /** Those that it carries in some cases. */
  readonly optionalHeaders?: readonly HeaderName[]
  /** The operations that go on from here: for each, where this answer has the path's variables that the request did not. */
  readonly links?: Readonly<Partial<Record<(typeof routes)[number]['operation'], Readonly<Record<string, string>>>>>
}

/** Headers that answers carry for their callers to use. */
export type HeaderName =
  | 'Location'
  | 'ETag'
  | 'Last-Modified'
  | 'Accept-Ranges'
  | 'Content-Range'
  | 'Content-Length'
  | 'X-Content-Length'
  | 'Cache-Control'
  | 'Upload-Offset'
  | 'Upload-Length'
  | 'Upload-Defer-Length'
  | 'Upload-Metadata'
  | 'Upload-Expires'
  | 'Tus-Resumable'

/**
 * A request whose answer is shown as an example. Requests are sent in the order of the route table, to the service that
 * tools/openapi/example-service.ts prepares.
 */
export interface ExampleRequest {
  /** Values in place of the parameters' own examples, put into the path as they are. */
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** A value that is sent as a document, or text that is sent as it is. */
  readonly body?: object | string
  /** What stands in the document for the text of the body: the value of its schema. */
  readonly shown?: object
}

/** What the document says of an operation beside what it reads from the route table and the group's policy. */
export interface OperationContract {
  /** What it stands under, where that is not its group's. */
  readonly tag?: GroupTag
  readonly summary: string
  readonly description?: string
  readonly query?: ParameterContracts
  /** Examples of variables of the path that suit this operation better than those of its group. */
  readonly pathExamples?: Readonly<Record<string, string | number>>
  readonly headers?: ParameterContracts
  readonly body?: BodyContract
  /** What succeeds, by status. */
  readonly answers: Readonly<Record<number, AnswerContract>>
  /** What the operation itself throws; the errors of the checks on the way to it are known from its route. */
  readonly errors?: readonly ErrorName[]
  /** The requests whose answers, as the service gives them, are shown; without any said, one with the parameters' own examples. */
  readonly examples?: readonly ExampleRequest[]
  /** Where its answers are too large to be shown, or are this document: their address stands in their place. */
  readonly shownByAddress?: true
}

interface GroupTag {
  readonly name: string
  readonly description: string
}

export interface GroupContract<Group extends string> {
  readonly tag: GroupTag
  /** The variables of the group's paths. */
  readonly parameters: ParameterContracts
  readonly operations: Readonly<Record<OperationOf<Group>, OperationContract>>
}

/** Registers a schema as the component of this name. */
export const named = (id: string, description?: string) =>
  [z.globalRegistry, { id, ...(description !== undefined && { description }) }] as const

export const described = (description: string) => [z.globalRegistry, { description }] as const

export const parameter = (description: string, example: string | number, schema: Schema): ParameterContract => ({
  description,
  example,
  schema,
})

export const text = (description: string, example: string): ParameterContract =>
  parameter(description, example, z.string())

/** The variable that the paths of all areas share. */
export const siteParameter: ParameterContract = {
  description: 'The id of the site, or `current`: the one site that the token covers.',
  schema: z.union([z.literal('current'), z.int()]),
  example: 'current',
}

/** A link in an answer (api.md, "Resources and their fields"). */
export const link = z
  .object({ rel: z.string(), uri: z.nullable(z.string()) })
  .register(...named('Link', 'Where something is: an absolute URL, or null when there is no such thing.'))
