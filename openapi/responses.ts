import type { BodyDoc } from '../functions/operation-doc.ts'
import { type ErrorName, errors, ServiceError } from '../lib/errors.ts'
import { contentTypes, type Format } from '../lib/http/negotiate.ts'
import { errorReply } from '../lib/http/render-error.ts'
import { validate } from '../lib/http/validate.ts'
import { writeXml } from '../lib/http/write-xml.ts'
import { errorSchema } from './error-schema.ts'
import { exampleRequestId } from './examples.ts'
import { headerReferences } from './headers.ts'
import type { Node } from './json.ts'
import type { Schemas } from './schemas.ts'
import { describeXml } from './xml.ts'

export const mediaType = (format: Format): string => contentTypes[format].split(';')[0] ?? ''

/** What the caller sees of an error, as the service itself writes it. */
const rendered = (error: ServiceError, format: Format): unknown => {
  const { document } = errorReply(error, exampleRequestId)
  if (!document) return undefined
  return format === 'json' ? document.value : writeXml(document)
}

const isMalformed = (name: ErrorName) => name.endsWith('Malformed')

/** An error as it is thrown: for a body that does not fit, with what is wrong with an empty one. */
const occurrenceOf = (name: ErrorName, body: BodyDoc | undefined): ServiceError => {
  if (body && isMalformed(name)) {
    try {
      validate(body.schema, {}, name)
    } catch (error) {
      if (error instanceof ServiceError) return error
    }
  }
  return new ServiceError(name)
}

/** What the checks put beside the error where they throw it. */
const ownHeaders: Readonly<Partial<Record<ErrorName, readonly string[]>>> = {
  tokenRejected: ['WWW-Authenticate'],
  methodNotAllowed: ['Allow'],
  tooManyRequests: ['Retry-After'],
  rangeNotSatisfiable: ['Content-Range'],
}

interface Context {
  readonly schemas: Schemas
  /** The components that responses are put into. */
  readonly responses: Record<string, Node>
  readonly formats: readonly Format[]
  readonly body: BodyDoc | undefined
}

const describe = (names: readonly ErrorName[]): string =>
  names.map((name) => `- \`${errors[name].code}\` ${errors[name].message}`).join('\n')

const errorResponse = (names: readonly ErrorName[], { schemas, formats, body }: Context): Node => {
  const reference = schemas.answered(errorSchema)
  const codes = [...new Set(names.map((name) => errors[name].code))]
  const schema = { allOf: [reference, { properties: { code: { enum: codes } } }] }
  if (formats.includes('xml')) describeXml(schemas.components, reference, { root: 'error' })
  const content = formats.map((format) => {
    const examples = names.map((name) => [name, { value: rendered(occurrenceOf(name, body), format) }])
    return [mediaType(format), { schema, examples: Object.fromEntries(examples) }]
  })
  const carried = names.flatMap((name) =>
    Object.keys(errorReply(new ServiceError(name), exampleRequestId).headers ?? {}),
  )
  return {
    description: describe(names),
    headers: headerReferences([...new Set([...carried, ...names.flatMap((name) => ownHeaders[name] ?? [])])]),
    content: Object.fromEntries(content),
  }
}

const isOwnOfBody = (name: ErrorName, body: BodyDoc | undefined) => body !== undefined && isMalformed(name)

const titleOf = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/** Operations share their errors, so those are components; but for an example of what is wrong with a body, which is the operation's own. */
const shared = (names: readonly ErrorName[], context: Context): Node => {
  const response = errorResponse(names, context)
  if (names.some((name) => isOwnOfBody(name, context.body))) return response
  const name = `${names.map(titleOf).join('Or')}${context.formats.includes('xml') ? 'InAnyFormat' : ''}`
  context.responses[name] ??= response
  return { $ref: `#/components/responses/${name}` }
}

/** The answers of an operation that are errors, by status. */
export const errorResponses = (names: readonly ErrorName[], context: Context): Record<string, Node> => {
  const byStatus = Map.groupBy(new Set(names), (name) => errors[name].status)
  return Object.fromEntries([...byStatus].map(([status, group]) => [String(status), shared(group, context)]))
}

/** What is too large to be read as a request has no error of the service's own: its code is the status. */
export const headersTooLarge: Node = {
  description:
    'The headers of the request and its address are larger than 16 KB; behind API Gateway, the headers than 10,240 bytes.',
  headers: headerReferences([]),
  content: {
    [mediaType('json')]: {
      schema: {
        type: 'object',
        properties: { code: { const: 431 }, message: { type: 'string' }, requestId: { type: 'string' } },
        required: ['code', 'message', 'requestId'],
      },
    },
  },
}
