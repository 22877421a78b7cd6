import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod/mini'
import { type ErrorName, errors, ServiceError } from '../../lib/core/errors.ts'
import { contentTypes, type Format } from '../../lib/http/negotiate.ts'
import { errorReply } from '../../lib/http/render-reply.ts'
import type { Route } from '../../lib/http/router.ts'
import { writeXml } from '../../lib/http/write-xml.ts'
import { type Examples, exampleRequestId } from './examples.ts'
import { headerReferences } from './headers.ts'
import type { Node, Schemas } from './schemas.ts'
import { inJsonOnly, notProvoked } from './shared-errors.ts'
import { describeXml } from './xml.ts'

export const mediaType = (format: Format): string => contentTypes[format].split(';')[0] ?? ''

const problem = z.object({ path: z.string(), message: z.string() }).register(z.globalRegistry, {
  id: 'Problem',
  description: 'One thing that is wrong: where, and what to do about it.',
})

/** What is too large to be read as a request has no error of the service's own: its code is the status. */
const headersTooLargeCode = 431

/**
 * The one error body (decisions.md, section 2), which lib/http/render-reply.ts writes. All answers share it, so that generated clients
 * have one model of it; which codes an answer has, its `x-codes` say.
 */
const errorSchema = z
  .object({
    code: z.literal(
      [...new Set([headersTooLargeCode, ...Object.values(errors).map(({ code }) => code)])].sort((a, b) => a - b),
    ),
    message: z.string(),
    requestId: z.string(),
    errors: z.optional(z.array(problem)),
  })
  .register(z.globalRegistry, {
    id: 'Error',
    description:
      'Says what went wrong. `errors` is there where several things are wrong with a request, and names each.',
  })

type ErrorExample = { readonly value: unknown } | { readonly externalValue: string }

/** What the service itself would write of an error that no request provokes. */
const written = (name: ErrorName, format: Format): ErrorExample => {
  const { document } = errorReply(new ServiceError(name), exampleRequestId)
  return { value: format === 'json' ? document.value : writeXml(document) }
}

const isNotProvoked = (name: ErrorName): boolean => notProvoked.some((other) => other === name)

const comesIn = (name: ErrorName, format: Format): boolean => format === 'json' || !inJsonOnly.includes(name)

/** What the service answered with the error: to the operation itself, else to one that speaks the same formats, else to any. */
const recorded = (
  name: ErrorName,
  format: Format,
  { examples, formats }: Pick<Context, 'examples' | 'formats'>,
  operation?: string,
): ErrorExample => {
  if (isNotProvoked(name)) return written(name, format)
  const found = examples.errors.filter(({ error, answer }) => error === name && answer?.mediaType === mediaType(format))
  const best =
    found.find((recording) => recording.operation === operation) ??
    found.find((recording) => recording.formats.length === formats.length) ??
    found[0]
  if (!best?.answer) throw new Error(`No request provokes ${name} in ${format}`)
  return best.answer.example
}

/** What the checks put beside the error where they throw it. */
const ownHeaders: Readonly<Partial<Record<ErrorName, readonly string[]>>> = {
  tokenRejected: ['WWW-Authenticate'],
  methodNotAllowed: ['Allow'],
  tooManyRequests: ['Retry-After'],
  appendGoing: ['Retry-After'],
  rangeNotSatisfiable: ['Content-Range'],
}

interface Context {
  readonly route: Route
  readonly schemas: Schemas
  readonly examples: Examples
  /** The components that responses are put into. */
  readonly responses: Record<string, Node>
  readonly formats: readonly Format[]
}

const describe = (names: readonly ErrorName[]): string =>
  names.map((name) => `- \`${errors[name].code}\` ${errors[name].message}`).join('\n')

const errorResponse = (names: readonly ErrorName[], context: Context, operation?: string): Node => {
  const { schemas, formats } = context
  const reference = schemas.answered(errorSchema)
  if (formats.includes('xml')) describeXml(schemas.components, reference, { root: 'error' })
  const content = formats.flatMap((format) => {
    const coming = names.filter((name) => comesIn(name, format))
    const examples = coming.map((name) => [name, recorded(name, format, context, operation)])
    return coming.length > 0 ? [[mediaType(format), { schema: reference, examples: Object.fromEntries(examples) }]] : []
  })
  const carried = names.flatMap((name) =>
    Object.keys(errorReply(new ServiceError(name), exampleRequestId).headers ?? {}),
  )
  return {
    description: describe(names),
    'x-codes': [...new Set(names.map((name) => errors[name].code))],
    headers: headerReferences([...new Set([...carried, ...names.flatMap((name) => ownHeaders[name] ?? [])])]),
    content: Object.fromEntries(content),
  }
}

const titleOf = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/** Operations share their errors, so those are components; but where an operation answers an error in words of its own. */
const shared = (names: readonly ErrorName[], context: Context): Node => {
  const common = errorResponse(names, context)
  const own = errorResponse(names, context, context.route.operation)
  if (!isDeepStrictEqual(common, own)) return own
  const name = `${names.map(titleOf).join('Or')}${context.formats.includes('xml') ? 'InAnyFormat' : ''}`
  context.responses[name] ??= common
  return { $ref: `#/components/responses/${name}` }
}

/** The answers of an operation that are errors, by status. */
export const errorResponses = (names: readonly ErrorName[], context: Context): Record<string, Node> => {
  const byStatus = Map.groupBy(new Set(names), (name) => errors[name].status)
  return Object.fromEntries([...byStatus].map(([status, group]) => [String(status), shared(group, context)]))
}

/** The answer to what is too large to be read as a request. */
export const headersTooLarge = ({ headersTooLarge: { answer } }: Examples, schemas: Schemas): Node => ({
  description:
    'The headers of the request and its address are larger than 16 KB; behind API Gateway, the headers than 10,240 bytes.',
  'x-codes': [headersTooLargeCode],
  headers: headerReferences([]),
  content: {
    [mediaType('json')]: {
      schema: schemas.answered(errorSchema),
      ...(answer && 'value' in answer.example && { example: answer.example.value }),
    },
  },
})
