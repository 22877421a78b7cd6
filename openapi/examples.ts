import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExampleRequest, OperationDoc, ParameterDocs } from '../functions/operation-doc.ts'
import { routes } from '../functions/routes.ts'
import { groupPolicies } from '../lib/http/group-policy.ts'
import type { Format } from '../lib/http/negotiate.ts'
import { writeXml } from '../lib/http/write-xml.ts'
import { startService } from '../local/service.ts'
import { describedBy } from './described-by.ts'

/** What stands in examples for what differs from run to run. The service puts its own address in place of this one. */
export const exampleBaseUrl = 'http://127.0.0.1:4000'
export const exampleRequestId = '3f0c8a52-9d1e-4b7a-8c65-0e2d9f417ab3'
const exampleDate = '2026-01-31T12:00:00.000Z'

/** One request of an operation and what the service answered, with a value in each format. */
export interface Example {
  readonly request: Partial<Record<Format, object | string>>
  readonly answer: Partial<Record<Format, unknown>>
  readonly status: number
}

export type Examples = Readonly<Record<string, Example>>

const pathOf = (template: string, parameters: ParameterDocs, { path = {}, query }: ExampleRequest): string => {
  const filled = template.replace(/\{(\w+)\+?\}/g, (_, name: string) =>
    String(path[name] ?? parameters[name]?.example ?? ''),
  )
  return query ? `${filled}?${new URLSearchParams(query)}` : filled
}

const bodyIn = (format: Format, { body }: ExampleRequest, doc: OperationDoc): string | undefined => {
  if (typeof body !== 'object') return body
  return format === 'json'
    ? JSON.stringify(body)
    : writeXml({ value: body, xml: doc.body?.xml ?? { root: 'document' } })
}

const normalised = (text: string, baseUrl: string): string =>
  text.replaceAll(baseUrl, exampleBaseUrl).replaceAll(/"lastModified":"[^"]*"/g, `"lastModified":"${exampleDate}"`)

interface Service {
  readonly baseUrl: string
  readonly token: string
  readonly format: Format
}

const exampleOf = ({ example = {} }: OperationDoc): ExampleRequest => (example === 'none' ? {} : example)

const record = async ({ baseUrl, token, format }: Service, route: (typeof routes)[number]): Promise<Example> => {
  const { doc, parameters } = describedBy(route)
  const example = exampleOf(doc)
  const body = bodyIn(format, example, doc)
  const answer = await fetch(`${baseUrl}${pathOf(route.path, parameters, example)}`, {
    method: route.method,
    headers: {
      Authorization: token,
      Accept: `application/${format}`,
      ...(typeof example.body === 'object' && { 'Content-Type': `application/${format}` }),
      ...example.headers,
    },
    ...(body !== undefined && { body }),
  })
  const text = normalised(await answer.text(), baseUrl)
  const documented = doc.answers[answer.status]
  if (!documented) throw new Error(`${route.operation} answers its example with ${answer.status}: ${text}`)
  return {
    status: answer.status,
    request: example.body === undefined ? {} : { [format]: format === 'json' ? example.body : body },
    answer: documented.schema ? { [format]: format === 'json' ? JSON.parse(text) : text } : {},
  }
}

const recordAll = async (service: Service): Promise<Examples> => {
  const examples: Record<string, Example> = {}
  for (const route of routes) {
    const { doc } = describedBy(route)
    if (doc.example !== 'none' && groupPolicies[route.group].formats.includes(service.format)) {
      examples[route.operation] = await record(service, route)
    }
  }
  return examples
}

/** Each format has a service of its own, so that both find the demo data as it was. */
const runIn = async (format: Format): Promise<Examples> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'site-admin-examples-'))
  const service = await startService({
    dataDirectory,
    dataCentres: [{ id: 'us', port: 0 }],
    reset: false,
    telemetry: { request: () => undefined },
  })
  try {
    return await recordAll({ baseUrl: service.baseUrl, token: service.demo.token, format })
  } finally {
    await service.stop()
    await rm(dataDirectory, { recursive: true, force: true })
  }
}

/** Runs the service over its demo data and keeps what it answers to the example request of each operation. */
export const recordExamples = async (): Promise<Examples> => {
  const json = await runIn('json')
  const xml = await runIn('xml')
  return Object.fromEntries(
    Object.entries(json).map(([operation, example]) => [
      operation,
      {
        ...example,
        request: { ...example.request, ...xml[operation]?.request },
        answer: { ...example.answer, ...xml[operation]?.answer },
      },
    ]),
  )
}
