import * as z from 'zod/mini'
import { answerHeaders, component, described, type HeaderName } from '../../lib/contract/contract.ts'
import { type ErrorName, errors, ServiceError } from '../../lib/core/errors.ts'
import { byName, capitalised } from '../../lib/core/names.ts'
import { errorReply } from '../../lib/http/render-reply.ts'
import { mediaTypes } from '../../lib/http/representation.ts'
import { type Format, isRead } from '../../lib/http/request.ts'
import { writeXml } from '../../lib/http/write-xml.ts'
import { exampleRequestId, headersTooLargeStatus, type Recording } from './examples.ts'
import type { Operation } from './operations.ts'
import type { createSchemas, Node } from './schemas.ts'

export interface Context extends Operation {
  readonly recordings: readonly Recording[]
  readonly schemas: ReturnType<typeof createSchemas>
  readonly responses: Record<string, Node>
}

export const typeOf = (format: Format): string => mediaTypes[format][0]

const nameOfHeader = (header: string) => header.replaceAll('-', '')

/** The headers that the text of the document refers to. */
export const headerComponents = (text: string): Node =>
  Object.fromEntries(
    Object.entries(answerHeaders)
      .map(([name, header]) => [nameOfHeader(name), header] as const)
      .filter(([name]) => text.includes(`"#/components/headers/${name}"`)),
  )

export const headers = (names: readonly string[], optional: readonly HeaderName[] = []): Node => ({
  ...byName(['X-Request-Id', ...names], (name) => ({ $ref: `#/components/headers/${nameOfHeader(name)}` })),
  ...byName(optional, (name) => ({ ...answerHeaders[name], required: false })),
})

const when = (applies: boolean | undefined, ...names: readonly ErrorName[]) => (applies ? names : [])

// The errors of the checks before an operation, in the order of these checks. A path whose variables cannot be decoded
// matches no route.
const edgeErrors = ({ route, policy, formats, contract: { body } }: Operation): readonly ErrorName[] => [
  ...when(route.path.includes('{'), 'routeUnknown'),
  'methodNotAllowed',
  ...when(!route.public, 'tokenRejected'),
  ...when(route.right !== undefined, policy.siteUnknown, policy.siteAmbiguous, policy.rightMissing),
  ...when(route.right && policy.renderingEngine, 'renderingEngineOff'),
  ...when(formats.length > 1, 'notAcceptable'),
  ...when(body && !body.mediaTypes, 'mediaTypeUnsupported', 'bodyTooLarge'),
  'tooManyRequests',
  'unexpected',
  'unavailable',
  ...when(!isRead(route.method), 'outOfSpace'),
]

const codes = new Set([headersTooLargeStatus, ...Object.values(errors).map(({ code }) => code)])

const problem = component('Problem', 'One fault: where it is, and how to correct it.', {
  path: z.string(),
  message: z.string(),
})

// All errors share one schema, so that generated clients have one model. Each answer lists its own codes in `x-codes`.
const errorSchema = component('Error', 'An error. `errors` lists every fault of a request that has several.', {
  code: z.literal([...codes].sort((a, b) => a - b)),
  message: z.string(),
  requestId: z.string(),
  error: described(z.optional(z.string()), 'An exchange of tokens only: the error code of RFC 6749.'),
  errors: z.optional(z.array(problem)),
})

const exampleOf = (name: ErrorName, format: Format, recordings: readonly Recording[]): Node => {
  const recorded = recordings.find(({ error }) => error === name)?.answer
  const shown = recorded?.find(({ mediaType }) => mediaType === typeOf(format))
  if (shown) return { value: shown.value }
  const { document } = errorReply(new ServiceError(name), exampleRequestId)
  return { value: format === 'json' ? document.value : writeXml(document) }
}

const ownHeaders: Readonly<Partial<Record<ErrorName, readonly HeaderName[]>>> = {
  methodNotAllowed: ['Allow'],
  tooManyRequests: ['Retry-After'],
  rangeNotSatisfiable: ['Content-Range'],
}

const headersOf = (name: ErrorName): readonly string[] => [
  ...Object.keys(errorReply(new ServiceError(name), exampleRequestId).headers ?? {}),
  ...(ownHeaders[name] ?? []),
]

const errorResponse = (names: readonly ErrorName[], { formats, recordings, schemas }: Context): Node => {
  const schema = schemas.answered(errorSchema, { root: 'error' })
  const content = formats.flatMap((format) => {
    // A caller that accepts neither JSON nor XML gets the error in JSON.
    const shown = names.filter((name) => format === 'json' || name !== 'notAcceptable')
    if (shown.length === 0) return []
    return [[typeOf(format), { schema, examples: byName(shown, (name) => exampleOf(name, format, recordings)) }]]
  })
  return {
    description: names.map((name) => `- \`${errors[name].code}\` ${errors[name].message}`).join('\n'),
    'x-codes': [...new Set(names.map((name) => errors[name].code))],
    headers: headers([...new Set(names.flatMap(headersOf))]),
    content: Object.fromEntries(content),
  }
}

/** The error answers of an operation, by status. Operations with the same errors share a component. */
export const errorResponses = (context: Context): Node => {
  const { route, contract, formats, responses } = context
  const possible = new Set([...edgeErrors(context), ...(contract.errors ?? [])])
  const byStatus = Map.groupBy(possible, (name) => errors[name].status)
  return Object.fromEntries(
    [...byStatus].map(([status, sharing]) => {
      const names = sharing.map(capitalised).join('Or')
      const shared = names.length > 100 ? `${capitalised(route.operation)}${status}` : names
      const name = `${shared}${formats.includes('xml') ? 'InAnyFormat' : ''}`
      responses[name] ??= errorResponse(sharing, context)
      return [status, { $ref: `#/components/responses/${name}` }]
    }),
  )
}

export const headersTooLarge = (recordings: readonly Recording[], schemas: Context['schemas']): Node => ({
  description: 'The headers and the address exceed 16 KB, or behind API Gateway the headers exceed 10,240 bytes.',
  'x-codes': [headersTooLargeStatus],
  headers: headers([]),
  content: {
    [typeOf('json')]: {
      schema: schemas.answered(errorSchema),
      example: recordings.find(({ status }) => status === headersTooLargeStatus)?.answer[0]?.value,
    },
  },
})
