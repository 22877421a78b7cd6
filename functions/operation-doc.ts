import type * as z from 'zod/mini'
import type { ErrorName } from '../lib/errors.ts'
import type { Document } from '../lib/http/reply.ts'
import type { OperationOf, routes } from './routes.ts'

type Schema = z.core.$ZodType

/** A variable of a path, a switch of a query or a request header. */
export interface ParameterDoc {
  readonly description: string
  readonly schema: Schema
  readonly example: string | number
  readonly required?: true
  /** Whether its value is a JSON text of the schema. */
  readonly json?: true
}

export type ParameterDocs = Readonly<Record<string, ParameterDoc>>

export interface BodyDoc {
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

export interface AnswerDoc {
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
  | 'Cache-Control'

/** The request whose answer is shown as the operation's example. Requests are sent in the order of the route table, over the demo data. */
export interface ExampleRequest {
  /** Values in place of the parameters' own examples. */
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** A value that is sent as a document, or text that is sent as it is. */
  readonly body?: object | string
}

/** What the document says of an operation beside what it reads from the route table and the group's policy. */
export interface OperationDoc {
  readonly summary: string
  readonly description?: string
  readonly query?: ParameterDocs
  readonly headers?: ParameterDocs
  readonly body?: BodyDoc
  /** What succeeds, by status. */
  readonly answers: Readonly<Record<number, AnswerDoc>>
  /** What the operation itself throws; the errors of the checks on the way to it are known from its route. */
  readonly errors?: readonly ErrorName[]
  /** `none` where the answer is this document, or what the machine alone decides. */
  readonly example?: ExampleRequest | 'none'
}

export interface GroupDoc<Group extends string> {
  readonly tag: { readonly name: string; readonly description: string }
  /** The variables of the group's paths. */
  readonly parameters: ParameterDocs
  readonly operations: Readonly<Record<OperationOf<Group>, OperationDoc>>
}
