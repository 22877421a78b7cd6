import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writtenAddress } from '../../functions/documentation/reference.ts'
import { hashToken } from '../../lib/access/grants.ts'
import { newPerson, type Person } from '../../lib/access/people.ts'
import { beginSession, hashPassword } from '../../lib/access/sign-in.ts'
import type { ExampleRequest } from '../../lib/contract/contract.ts'
import { type ErrorName, errors } from '../../lib/core/errors.ts'
import { mediaType } from '../../lib/core/headers.ts'
import type { HistoryEntry } from '../../lib/core/history-entry.ts'
import { systemClock } from '../../lib/core/time.ts'
import type { Document } from '../../lib/http/reply.ts'
import { writeXml } from '../../lib/http/write-xml.ts'
import { type LocalStores, openMachine } from '../../lib/machine/machine.ts'
import { toStoragePath } from '../../lib/storage/path.ts'
import { startService } from '../../local/service.ts'
import { type Operation, operations } from './operations.ts'

interface Service {
  readonly baseUrl: string
  readonly token: string
  /** The values of path variables that differ from run to run. */
  readonly variables: Readonly<Record<string, string>>
}

const prepareFiles = async (baseUrl: string, token: string): Promise<string> => {
  const send = (path: string, method: string, request: { headers?: Record<string, string>; body?: string } = {}) =>
    fetch(`${baseUrl}/api/v2/admin/sites/current/storage/${path}`, {
      method,
      ...request,
      headers: { Authorization: token, ...request.headers },
    })
  await send('hello.txt', 'PUT', { body: 'Hello' })
  await send('press/release.html', 'PUT', { body: '<h1>News</h1>' })
  await send('archive/removed.txt', 'PUT', { body: 'Removed' })
  await send('archive/removed.txt', 'DELETE')
  const begun = await send('', 'POST', {
    headers: { 'Tus-Resumable': '1.0.0', 'Upload-Length': '11', 'Upload-Metadata': `filename ${btoa('large.txt')}` },
  })
  return begun.headers.get('Location')?.split('/').at(-1) ?? ''
}

// A webhook that is never sent, with one delivery.
const addWebhook = async ({ webhooks, history }: LocalStores, entry: HistoryEntry): Promise<string> => {
  const { site } = entry
  const id = 'whk_d2f1d2f1d2f1d2f1'
  const type = 'file.stored'
  // The service refuses to connect to this address, so a test needs no network.
  const target = { targetUrl: 'https://127.0.0.1/hooks', types: ['file.*'], subject: 'news/' }
  const kept = { enabled: false, description: 'News', secrets: [{ sealed: `whsec_${'0'.repeat(32)}` }], retries: [] }
  await webhooks.create({ site, id, ...target, ...kept, position: 0 }, { ...entry, type, subject: 'news/index.html' })
  const [{ position = 0 } = {}] = await history.before(site, undefined, 1)
  const delivery = { id: `dlv_${position}`, position, type, attempt: 1, at: Date.parse(exampleDate) } as const
  await webhooks.recordOutcome(site, id, { delivery: { ...delivery, status: 200, milliseconds: 38 } })
  return delivery.id
}

// Stores records that no request can create: an owner, a page in a workflow, a folder with an open removal, and a
// webhook. Returns the token of the owner, and the id of a delivery.
const openRecords = async (dataDirectory: string, site: HistoryEntry['site']) => {
  const entry: HistoryEntry = { site, type: 'site.created', subject: 'example', actor: 'example' }
  const { stores, close } = await openMachine(dataDirectory)
  const sites: Person['sites'] = { [site]: { role: 'owner' } }
  const ann = newPerson({ name: 'ann', displayName: 'Ann', email: 'ann@example.com', sites }, 1)
  const owner = { ...ann, password: await hashPassword('correct horse battery') }
  try {
    await stores.people.create(owner, [])
    const invitation = { hash: hashToken('d2f1'.repeat(16)), expires: 4_000_000_000 }
    await stores.people.create({ ...owner, name: 'joe', invitation }, [])
    await stores.workflows.start(site, toStoragePath('press/release.html'), entry)
    await stores.removals.open(site, toStoragePath('archive/2025'), 'to go', entry)
    const delivery = await addWebhook(stores, entry)
    return { token: await beginSession({ grants: stores.grants, clock: systemClock }, owner), delivery }
  } finally {
    await close()
  }
}

// These constants replace values that differ from run to run.
export const exampleRequestId = '3f0c8a52-9d1e-4b7a-8c65-0e2d9f417ab3'
const exampleDate = '2026-01-31T12:00:00.000Z'

export interface Shown {
  readonly mediaType: string
  readonly value: unknown
}

export interface Recording {
  readonly operation: string
  readonly status: number
  readonly error: ErrorName | undefined
  /** The same body in each format. */
  readonly request: readonly Shown[]
  readonly answer: readonly Shown[]
}

const pathOf = ({ route, variables }: Operation, { path, query }: ExampleRequest, service: Service): string => {
  const values: ExampleRequest['path'] = { ...service.variables, ...path }
  const filled = route.path.replace(/\{(\w+)\+?\}/g, (_, name) => String(values[name] ?? variables[name]?.example))
  return query ? `${filled}?${new URLSearchParams(query)}` : filled
}

const requestId = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g
const secret = /(?<="token":"|<token>|invitation=\w+\.|"id":")[\da-f]{64}/g
const changeId = /(?<=["\s])(\d{16})-(\d+)\b/g

// Replaces the values that differ from run to run. Ids of changes get the ids of fixed moments, in their order.
const normalised = (text: string, baseUrl: string): string => {
  const positions = [...new Set([...text.matchAll(changeId)].map(([, position = '']) => position))].sort()
  const first = Date.parse(exampleDate) * 1000
  return text
    .replaceAll(changeId, (_, position: string, site: string) => `${first + positions.indexOf(position)}-${site}`)
    .replaceAll(baseUrl, writtenAddress)
    .replaceAll(requestId, exampleRequestId)
    .replaceAll(secret, 'd2f1'.repeat(16))
    .replaceAll(/(?<="key":"sak_)\w+/g, '0'.repeat(49))
    .replaceAll(/(?<="secret":"whsec_)[^"]+/g, '0'.repeat(32))
    .replaceAll(/(?<="id":"whk_)\w+/g, 'd2f1'.repeat(4))
    .replaceAll(/(?<="id":"dlv_)[\d-]+/g, '01769860800000-1769860799000000-1')
    .replaceAll(/(?<="milliseconds":)\d+/g, '38')
    .replaceAll(/(?<="etag":"\\")[\da-f]{32}/g, 'd2f1'.repeat(8))
    .replaceAll(/"(lastModified|at|expires|time)":"[^"]*"/g, `"$1":"${exampleDate}"`)
    .replaceAll(/"lastSignIn":"[^"]*"/g, `"lastSignIn":"${exampleDate.slice(0, 10)}"`)
}

// The service reads and writes one value in both formats, so the XML follows from the JSON.
const show = (header: string | null | undefined, text: string | undefined, xml: Document['xml']): Shown[] => {
  const type = mediaType(header ?? '')
  if (!type || !text) return []
  if (type !== 'application/json') return [{ mediaType: type, value: text }]
  const value = JSON.parse(text)
  return [
    { mediaType: type, value },
    ...(xml ? [{ mediaType: 'application/xml', value: writeXml({ value, xml }) }] : []),
  ]
}

// Undefined if the operation succeeds. Throws if the contract lacks the answer.
const errorIn = ({ route, contract }: Operation, status: number, text: string): ErrorName | undefined => {
  if (contract.answers[status]) return undefined
  const error = contract.errors?.find((name) => errors[name].status === status && text.includes(`${errors[name].code}`))
  if (error) return error
  throw new Error(`${route.operation} answers an example request with ${status}: ${text.slice(0, 500)}`)
}

// Returns the whole text of an answer, or the beginning of an endless stream up to the first events.
const readText = async ({ headers, body }: Response): Promise<string> => {
  const isEndless = mediaType(headers.get('content-type') ?? '') === 'text/event-stream'
  let text = ''
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    if (isEndless && text.includes('data: ')) break
  }
  return text
}

const record = async (service: Service, operation: Operation, example: ExampleRequest): Promise<Recording> => {
  const { baseUrl, token } = service
  const { route, contract } = operation
  const path = pathOf(operation, example, service)
  const isJson = typeof example.body === 'object'
  const body = isJson ? JSON.stringify(example.body) : example.body
  const headers: Readonly<Record<string, string>> = {
    Accept: 'application/json',
    Authorization: token,
    ...(isJson && { 'Content-Type': 'application/json' }),
    ...example.headers,
  }
  const request = { method: route.method, headers, ...(body !== undefined && { body }), redirect: 'manual' } as const
  const response = await fetch(`${baseUrl}${path}`, request)
  const { status } = response
  const text = await readText(response)
  const type = response.headers.get('content-type')
  const sent = show(headers['Content-Type'], body, contract.body?.xml)
  const error = errorIn(operation, status, text)
  return {
    operation: route.operation,
    status,
    error,
    request: example.shown ? sent.map((one) => ({ ...one, value: example.shown })) : sent,
    answer: operation.shownByAddress
      ? [{ mediaType: mediaType(type ?? '') ?? '', value: `${writtenAddress}${path}` }]
      : show(type, normalised(text, baseUrl), error ? { root: 'error' } : contract.answers[status]?.xml),
  }
}

/** The server refuses headers that are too large before the service sees the request, so the code is the status. */
export const headersTooLargeStatus = 431

const recordHeadersTooLarge = async ({ baseUrl }: Service): Promise<Recording> => {
  const response = await fetch(baseUrl, { headers: { Accept: 'x'.repeat(17 * 1024) } })
  const answer = show(response.headers.get('content-type'), normalised(await response.text(), baseUrl), undefined)
  return { operation: 'none', status: response.status, error: undefined, request: [], answer }
}

const examples = operations.flatMap((operation) =>
  (operation.contract.examples ?? [{}]).map((example) => [operation, example] as const),
)

/** Sends the example requests of each operation to a service, in the order of the route table. */
export const recordExamples = async (): Promise<readonly Recording[]> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'site-admin-examples-'))
  const { baseUrl, demo, stop } = await startService({
    dataDirectory,
    host: '127.0.0.1',
    dataCentres: [{ id: 'us', port: 0 }],
    reset: false,
    telemetry: { request: () => undefined },
    say: () => undefined,
  })
  try {
    if (!demo) throw new Error('The first start created no demo site')
    const { token, delivery } = await openRecords(dataDirectory, demo.siteId)
    const upload = await prepareFiles(baseUrl, token)
    const service = { baseUrl, token, variables: { upload, delivery } }
    const recordings: Recording[] = []
    for (const [operation, example] of examples) recordings.push(await record(service, operation, example))
    return [...recordings, await recordHeadersTooLarge(service)]
  } finally {
    await stop()
    await rm(dataDirectory, { recursive: true, force: true })
  }
}
