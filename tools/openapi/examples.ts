import { request as requestHttp } from 'node:http'
import type { ExampleRequest } from '../../lib/contract/contract.ts'
import { routes } from '../../lib/contract/routes/routes.ts'
import { type ErrorName, errors } from '../../lib/core/errors.ts'
import { groupPolicies } from '../../lib/http/group-policy.ts'
import type { Format } from '../../lib/http/negotiate.ts'
import { writeXml } from '../../lib/http/write-xml.ts'
import { describedBy } from './contracts.ts'
import { type ExampleService, useExampleService } from './example-service.ts'
import { sharedErrors } from './shared-errors.ts'

/** What stands in examples for what differs from run to run. The service puts its own address in place of this one. */
export const exampleBaseUrl = 'http://127.0.0.1:4000'
export const exampleRequestId = '3f0c8a52-9d1e-4b7a-8c65-0e2d9f417ab3'
const exampleDate = '2026-01-31T12:00:00.000Z'

type Operation = (typeof routes)[number]['operation']

/** A body in the document: its value, or its text, or where it is. */
export interface Shown {
  readonly mediaType: string
  readonly example: { readonly value: unknown } | { readonly externalValue: string }
}

/** A request that was sent and what the service answered. */
export interface Recording {
  readonly operation: Operation
  readonly status: number
  readonly request: Shown | undefined
  readonly answer: Shown | undefined
}

interface ErrorRecording extends Recording {
  readonly error: ErrorName
  /** What the operation can answer in. */
  readonly formats: readonly Format[]
}

export interface Examples {
  readonly successes: readonly Recording[]
  readonly errors: readonly ErrorRecording[]
  /** What is too large to be read as a request. */
  readonly headersTooLarge: Recording
}

interface Service extends ExampleService {
  readonly format: Format
}

type ExampleRoute = (typeof routes)[number]

const pathOf = (route: ExampleRoute, { path = {}, query }: ExampleRequest): string => {
  const { parameters, contract } = describedBy(route)
  const filled = route.path.replace(/\{(\w+)\+?\}/g, (_, name: string) =>
    String(path[name] ?? contract.pathExamples?.[name] ?? parameters[name]?.example ?? ''),
  )
  return query ? `${filled}?${new URLSearchParams(query)}` : filled
}

const bodyIn = (format: Format, route: ExampleRoute, { body }: ExampleRequest): string | undefined => {
  if (typeof body !== 'object') return body
  if (format === 'json') return JSON.stringify(body)
  return writeXml({ value: body, xml: describedBy(route).contract.body?.xml ?? { root: 'document' } })
}

const requestId = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

const changeId = /"(\d{16})-(\d+)"/g

/** Ids of changes, in their order, one behind the other from the moment of the examples on. */
const withoutMoments = (text: string): string => {
  const positions = [...new Set([...text.matchAll(changeId)].map(([, position = '']) => position))].sort()
  const first = Date.parse(exampleDate) * 1000
  return text.replaceAll(
    changeId,
    (_, position: string, site: string) => `"${first + positions.indexOf(position)}-${site}"`,
  )
}

const normalised = (text: string, { baseUrl }: Service): string =>
  withoutMoments(text)
    .replaceAll(baseUrl, exampleBaseUrl)
    .replaceAll(requestId, exampleRequestId)
    .replaceAll(/"(lastModified|at)":"[^"]*"/g, `"$1":"${exampleDate}"`)

const shownText = (mediaType: string, text: string): Shown => ({
  mediaType,
  example: { value: mediaType === 'application/json' ? JSON.parse(text) : text },
})

const sentBody = (example: ExampleRequest, contentType: string | undefined, body: string | undefined) => {
  if (body === undefined || contentType === undefined) return undefined
  const [mediaType = ''] = contentType.split(';')
  return example.shown ? { mediaType, example: { value: example.shown } } : shownText(mediaType, body)
}

const headersOf = ({ caller, body, headers }: ExampleRequest, { token, tokens, format }: Service) => {
  const authorization = caller ? tokens[caller] : token
  return {
    Accept: `application/${format}`,
    ...(authorization && { Authorization: authorization }),
    ...(typeof body === 'object' && { 'Content-Type': `application/${format}` }),
    ...headers,
  }
}

interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

interface Received {
  readonly status: number
  /** Without parameters; undefined where there is no body. */
  readonly mediaType: string | undefined
  readonly text: string
}

/** Sends a request as it is given, however large its headers are and whatever length they promise, and reads the answer. */
const send = async (url: string, { method, headers, body }: Sent): Promise<Received> => {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const { origin, host, hostname, port } = new URL(url)
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const request = requestHttp(
    // The path as it is: the URL would leave out empty segments and such.
    {
      hostname,
      port,
      path: url.slice(origin.length),
      method,
      headers: { Host: host, ...length, ...headers },
      agent: false,
    },
    (response) => {
      response.toArray().then((chunks: Buffer[]) => {
        const text = Buffer.concat(chunks).toString()
        const mediaType = response.headers['content-type']?.split(';')[0]
        resolve({ status: response.statusCode ?? 0, mediaType: text === '' ? undefined : mediaType, text })
        request.destroy()
      }, reject)
    },
  )
  request.on('error', reject)
  request.end(body)
  return promise
}

const answerOf = (route: ExampleRoute, { mediaType, text }: Received, path: string, service: Service) => {
  if (mediaType === undefined) return undefined
  if (describedBy(route).contract.shownByAddress) {
    return { mediaType, example: { externalValue: `${exampleBaseUrl}${path}` } }
  }
  return shownText(mediaType, normalised(text, service))
}

const record = async (service: Service, route: ExampleRoute, example: ExampleRequest): Promise<Recording> => {
  const path = pathOf(route, example)
  const headers: Readonly<Record<string, string>> = headersOf(example, service)
  const body = bodyIn(service.format, route, example)
  const baseUrl = example.at === 'hampered' ? service.hamperedUrl : service.baseUrl
  const received = await send(`${baseUrl}${path}`, { method: example.method ?? route.method, headers, body })
  return {
    operation: route.operation,
    status: received.status,
    request: sentBody(example, headers['Content-Type'], body),
    answer: answerOf(route, received, path, service),
  }
}

const textOf = ({ answer }: Recording) => JSON.stringify(answer?.example ?? '').slice(0, 500)

const recordSuccess = async (service: Service, route: ExampleRoute, example: ExampleRequest): Promise<Recording> => {
  const recording = await record(service, route, example)
  const { status, operation } = recording
  if (describedBy(route).contract.answers[status]) return recording
  throw new Error(`${operation} answers an example request with ${status}: ${textOf(recording)}`)
}

const codeIn = (recording: Recording): number =>
  Number(/(?:"code":|<code>)(\d+)/.exec(textOf(recording))?.[1] ?? Number.NaN)

const recordError = async (
  service: Service,
  route: ExampleRoute,
  error: ErrorName,
  example: ExampleRequest,
): Promise<ErrorRecording> => {
  const recording = await record(service, route, example)
  const { status, operation } = recording
  if (status === errors[error].status && codeIn(recording) === errors[error].code) {
    return { ...recording, error, formats: groupPolicies[route.group].formats }
  }
  throw new Error(`${operation} does not answer with ${error} but with ${status}: ${textOf(recording)}`)
}

const isSpoken = ({ group }: ExampleRoute, format: Format) => groupPolicies[group].formats.includes(format)

const recordSuccesses = async (service: Service): Promise<Recording[]> => {
  const recordings: Recording[] = []
  for (const route of routes.filter((candidate) => isSpoken(candidate, service.format))) {
    for (const example of describedBy(route).contract.examples ?? [{}]) {
      recordings.push(await recordSuccess(service, route, example))
    }
  }
  return recordings
}

const recordErrors = async (service: Service): Promise<ErrorRecording[]> => {
  const recordings: ErrorRecording[] = []
  for (const route of routes.filter((candidate) => isSpoken(candidate, service.format))) {
    const provoked = { ...sharedErrors[route.operation], ...describedBy(route).contract.provoked }
    for (const [error, example] of Object.entries(provoked)) {
      recordings.push(await recordError(service, route, error as ErrorName, example))
    }
  }
  return recordings
}

const tooLarge = { headers: { Accept: 'x'.repeat(17 * 1024) } }

/** Each format has a service of its own, so that both find the demo data as it was. */
const runIn = (format: Format): Promise<Examples> =>
  useExampleService(async (prepared) => {
    const service = { ...prepared, format }
    return {
      successes: await recordSuccesses(service),
      errors: await recordErrors(service),
      headersTooLarge: await record(service, routes[0], tooLarge),
    }
  })

/** Runs the service over its demo data and keeps what it answers to the example requests of each operation, and to those that provoke errors. */
export const recordExamples = async (): Promise<Examples> => {
  const json = await runIn('json')
  const xml = await runIn('xml')
  return {
    successes: [...json.successes, ...xml.successes],
    errors: [...json.errors, ...xml.errors],
    headersTooLarge: json.headersTooLarge,
  }
}
