import type { ExampleRequest } from '../../lib/contract/contract.ts'
import { routes } from '../../lib/contract/routes/routes.ts'
import { type ErrorName, errors } from '../../lib/core/errors.ts'
import { groupPolicies } from '../../lib/http/group-policy.ts'
import type { Format } from '../../lib/http/negotiate.ts'
import { writeXml } from '../../lib/http/write-xml.ts'
import { describedBy } from './contracts.ts'
import { type ExampleService, useExampleService } from './example-service.ts'

// These replace values that differ from run to run. The service puts its own address in place of this one.
export const exampleBaseUrl = 'http://127.0.0.1:4000'
export const exampleRequestId = '3f0c8a52-9d1e-4b7a-8c65-0e2d9f417ab3'
const exampleDate = '2026-01-31T12:00:00.000Z'

type ExampleRoute = (typeof routes)[number]

/** A body in the document: its value, its text, or its address. */
export interface Shown {
  readonly mediaType: string
  readonly example: { readonly value: unknown } | { readonly externalValue: string }
}

export interface Recording {
  readonly operation: ExampleRoute['operation']
  readonly status: number
  /** Absent where the operation succeeded. */
  readonly error: ErrorName | undefined
  readonly request: Shown | undefined
  readonly answer: Shown | undefined
}

export interface Examples {
  readonly recordings: readonly Recording[]
  /** The answer to headers that the server refuses to read. */
  readonly headersTooLarge: Pick<Recording, 'answer'>
}

interface Service extends ExampleService {
  readonly format: Format
}

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

/** Replaces the ids of changes, in their order, by consecutive ones that begin at the moment of the examples. */
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

const shownRequest = ({ shown }: ExampleRequest, type: string | undefined, body: string | undefined) => {
  if (body === undefined || type === undefined) return undefined
  const [mediaType = ''] = type.split(';')
  return shown ? { mediaType, example: { value: shown } } : shownText(mediaType, body)
}

const shownAnswer = async (response: Response, path: string, byAddress: boolean, service: Service) => {
  const text = await response.text()
  const [mediaType = ''] = response.headers.get('content-type')?.split(';') ?? []
  if (text === '') return undefined
  if (byAddress) return { mediaType, example: { externalValue: `${exampleBaseUrl}${path}` } }
  return shownText(mediaType, normalised(text, service))
}

/** Undefined where the operation succeeds. Throws unless the contract has the answer. */
const errorIn = (route: ExampleRoute, { status, answer }: Pick<Recording, 'status' | 'answer'>) => {
  const { answers, errors: own = [] } = describedBy(route).contract
  if (answers[status]) return undefined
  const text = JSON.stringify(answer?.example ?? '')
  const error = own.find((name) => errors[name].status === status && text.includes(String(errors[name].code)))
  if (error) return error
  throw new Error(`${route.operation} answers an example request with ${status}: ${text.slice(0, 500)}`)
}

const record = async (service: Service, route: ExampleRoute, example: ExampleRequest): Promise<Recording> => {
  const { baseUrl, token, format } = service
  const path = pathOf(route, example)
  const headers: Readonly<Record<string, string>> = {
    Accept: `application/${format}`,
    Authorization: token,
    ...(typeof example.body === 'object' && { 'Content-Type': `application/${format}` }),
    ...example.headers,
  }
  const body = bodyIn(format, route, example)
  const request = { method: route.method, headers, ...(body !== undefined && { body }), redirect: 'manual' } as const
  const response = await fetch(`${baseUrl}${path}`, request)
  const { shownByAddress = false } = describedBy(route).contract
  const { status } = response
  const answer = await shownAnswer(response, path, shownByAddress, service)
  return {
    operation: route.operation,
    status,
    error: errorIn(route, { status, answer }),
    request: shownRequest(example, headers['Content-Type'], body),
    answer,
  }
}

const recordAll = async (service: Service): Promise<Recording[]> => {
  const recordings: Recording[] = []
  for (const route of routes.filter(({ group }) => groupPolicies[group].formats.includes(service.format))) {
    for (const example of describedBy(route).contract.examples ?? [{}]) {
      recordings.push(await record(service, route, example))
    }
  }
  return recordings
}

const recordHeadersTooLarge = async (service: Service): Promise<Examples['headersTooLarge']> => {
  const response = await fetch(service.baseUrl, { headers: { Accept: 'x'.repeat(17 * 1024) } })
  return { answer: await shownAnswer(response, '/', false, service) }
}

/** Sends the example requests of each operation to the service, in the order of the route table. */
export const recordExamples = async (): Promise<Examples> => {
  const json = await useExampleService(async (prepared) => {
    const service = { ...prepared, format: 'json' as const }
    return { recordings: await recordAll(service), headersTooLarge: await recordHeadersTooLarge(service) }
  })
  // Each format has a service of its own, so that both find the demo data unchanged.
  const inXml = await useExampleService((prepared) => recordAll({ ...prepared, format: 'xml' }))
  return { ...json, recordings: [...json.recordings, ...inXml] }
}
