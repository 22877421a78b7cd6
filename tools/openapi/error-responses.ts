import * as z from 'zod/mini'
import { component } from '../../lib/contract/contract.ts'
import { capitalised } from '../../lib/core/content-kinds.ts'
import { type ErrorName, errors, ServiceError } from '../../lib/core/errors.ts'
import type { GroupPolicy } from '../../lib/http/group-policy.ts'
import { contentTypes, type Format } from '../../lib/http/negotiate.ts'
import { errorReply } from '../../lib/http/render-reply.ts'
import { isOfSite, type Route } from '../../lib/http/router.ts'
import { writeXml } from '../../lib/http/write-xml.ts'
import { type Examples, exampleRequestId, type Shown } from './examples.ts'
import { headerReferences } from './parameters.ts'
import { describeXml, type Node, type Schemas } from './schemas.ts'

export const mediaType = (format: Format): string => contentTypes[format].split(';')[0] ?? ''

const when = (applies: boolean | undefined, ...names: readonly ErrorName[]) => (applies ? names : [])

/**
 * The errors of the checks before an operation, in their order. A path whose variables cannot be decoded is no route.
 */
export const edgeErrors = (route: Route, policy: GroupPolicy, hasDocument: boolean): readonly ErrorName[] => [
  ...when(route.path.includes('{'), 'routeUnknown'),
  'methodNotAllowed',
  ...when(!route.public, 'tokenRejected'),
  ...when(isOfSite(route), policy.siteUnknown, policy.siteAmbiguous),
  ...when(isOfSite(route) && route.permission !== undefined, 'privilegesMissing'),
  ...when(isOfSite(route) && policy.renderingEngine, 'renderingEngineOff'),
  ...when(!route.public && policy.formats.length > 1, 'notAcceptable'),
  ...when(hasDocument, 'mediaTypeUnsupported', 'bodyTooLarge'),
  'tooManyRequests',
  'unexpected',
  'unavailable',
]

const problem = component('Problem', 'One fault: where it is, and how to correct it.', {
  path: z.string(),
  message: z.string(),
})

/** The server refuses headers that are too large before the service sees the request: the code is the status. */
const headersTooLargeCode = 431

const codes = [...new Set([headersTooLargeCode, ...Object.values(errors).map(({ code }) => code)])]

/** All errors share one schema, so that generated clients have one model. The codes of an answer are its `x-codes`. */
const errorSchema = component('Error', 'An error. `errors` lists every fault of a request that has several.', {
  code: z.literal(codes.sort((a, b) => a - b)),
  message: z.string(),
  requestId: z.string(),
  errors: z.optional(z.array(problem)),
})

interface Context {
  readonly schemas: Schemas
  readonly examples: Examples
  readonly responses: Record<string, Node>
  readonly formats: readonly Format[]
}

/** A recorded answer with this error, or else the error as the service renders it. */
const exampleOf = (name: ErrorName, format: Format, { recordings }: Examples): Shown['example'] => {
  const recorded = recordings.find(({ error, answer }) => error === name && answer?.mediaType === mediaType(format))
  if (recorded?.answer) return recorded.answer.example
  const { document } = errorReply(new ServiceError(name), exampleRequestId)
  return { value: format === 'json' ? document.value : writeXml(document) }
}

const ownHeaders: Readonly<Partial<Record<ErrorName, readonly string[]>>> = {
  tokenRejected: ['WWW-Authenticate'],
  methodNotAllowed: ['Allow'],
  tooManyRequests: ['Retry-After'],
  uploadLocked: ['Retry-After'],
  rangeNotSatisfiable: ['Content-Range'],
}

const headersOf = (name: ErrorName): readonly string[] => [
  ...Object.keys(errorReply(new ServiceError(name), exampleRequestId).headers ?? {}),
  ...(ownHeaders[name] ?? []),
]

/** A caller that accepts neither JSON nor XML is told so in JSON. */
const comesIn = (name: ErrorName, format: Format): boolean => format === 'json' || name !== 'notAcceptable'

const errorResponse = (names: readonly ErrorName[], { schemas, formats, examples }: Context): Node => {
  const schema = schemas.answered(errorSchema)
  if (formats.includes('xml')) describeXml(schemas.components, schema, { root: 'error' })
  const content = formats.flatMap((format) => {
    const shown = names.filter((name) => comesIn(name, format)).map((name) => [name, exampleOf(name, format, examples)])
    return shown.length > 0 ? [[mediaType(format), { schema, examples: Object.fromEntries(shown) }]] : []
  })
  return {
    description: names.map((name) => `- \`${errors[name].code}\` ${errors[name].message}`).join('\n'),
    'x-codes': [...new Set(names.map((name) => errors[name].code))],
    headers: headerReferences([...new Set(names.flatMap(headersOf))]),
    content: Object.fromEntries(content),
  }
}

/** The error answers of an operation, by status. Operations with the same errors share a component. */
export const errorResponses = (names: readonly ErrorName[], context: Context): Record<string, Node> => {
  const byStatus = Map.groupBy(new Set(names), (name) => errors[name].status)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => {
      const name = `${group.map(capitalised).join('Or')}${context.formats.includes('xml') ? 'InAnyFormat' : ''}`
      context.responses[name] ??= errorResponse(group, context)
      return [String(status), { $ref: `#/components/responses/${name}` }]
    }),
  )
}

export const headersTooLarge = ({ headersTooLarge: { answer } }: Examples, schemas: Schemas): Node => ({
  description:
    'The headers and the address of the request are larger than 16 KB; behind API Gateway, the headers are larger ' +
    'than 10,240 bytes.',
  'x-codes': [headersTooLargeCode],
  headers: headerReferences([]),
  content: {
    [mediaType('json')]: {
      schema: schemas.answered(errorSchema),
      ...(answer && 'value' in answer.example && { example: answer.example.value }),
    },
  },
})
