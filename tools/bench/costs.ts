import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createStorageHandler } from '../../functions/storage/group.ts'
import { createWebhookWorker } from '../../lib/aws/lambda/webhook-worker.ts'
import type { Handler } from '../../lib/http/request.ts'
import { createDeliveryDeps, createStorageDeps } from '../../lib/service/deps.ts'
import type { Webhook } from '../../lib/webhooks/webhooks.ts'
import { type CloudRequest, watchCloudRequests } from '../../test/support/cloud-requests.ts'
import {
  addOwner,
  type Exercise,
  exercises,
  fillDirectory,
  fillWebhooks,
  perform,
  site,
  storesOver,
  unsealed,
} from '../../test/support/every-operation.ts'
import { send } from '../../test/support/gateway.ts'
import { entry } from '../../test/support/history.ts'
import { measurePartsCosts, measureRounds } from './large/in-parts.ts'
import { form, formOf } from './measure/content.ts'
import { type Bench, mebibyte, type Table } from './measure/figures.ts'
import { atEndpoint, onTables, openCloudFiles, unlogged } from './measure/grounds.ts'
import { type Consumed, meter } from './measure/meter.ts'
import { countRequests, dollars, fileCosts, prices, requestCosts, tableCosts } from './measure/prices.ts'

const fileNames = (count: number, batch = 0): string[] =>
  Array.from({ length: count }, (_, index) => `${batch}-${index}.txt`)

interface StorageRequest {
  // The name of the row in the table. A request without a name only prepares the next ones.
  readonly name?: string
  readonly method: string
  // Path and query, relative to the storage.
  readonly target: string
  readonly contentType?: string
  readonly body?: string
}

const upload = (folder: string, names: readonly string[], name?: string): StorageRequest => ({
  ...(name && { name }),
  method: 'POST',
  target: folder,
  contentType: form,
  body: formOf(names, 'text'),
})

// The operations of the storage, in an order in which all succeed. Folders are at the root, because parents would cost
// lookups.
const storageRequests: readonly StorageRequest[] = [
  { method: 'PUT', target: '/folder?type=folder' },
  upload('/folder', ['a.txt'], '12: upload a file into a folder'),
  upload('/folder', ['a.txt'], '12: replace a file'),
  upload('/new', ['a.txt'], '12: upload a file into a new folder'),
  upload('/ten', fileNames(10), '12: upload 10 files into a new folder'),
  upload('/folder', ['x.txt', 'y.txt', 'z.txt'], '12: upload 3 files into a folder'),
  { name: 'PUT a file', method: 'PUT', target: '/folder/b.txt', body: 'text' },
  { name: 'PUT a page', method: 'PUT', target: '/folder/page.html', body: 'text' },
  { name: '13: progress', method: 'GET', target: '?status' },
  { name: 'GET a file', method: 'GET', target: '/folder/a.txt' },
  { name: 'GET ?meta of a file', method: 'GET', target: '/folder/a.txt?meta' },
  { name: 'GET ?meta of a folder', method: 'GET', target: '/ten?meta' },
  { method: 'PUT', target: '/folder/large.bin', body: 'x'.repeat(4_400_000) },
  { name: 'GET a file over 4 MiB: 302', method: 'GET', target: '/folder/large.bin' },
  {
    name: 'rename a file',
    method: 'PUT',
    target: '/folder/b.txt?meta',
    contentType: 'application/json',
    body: '{"name":"c.txt"}',
  },
  { name: '14: delete a file', method: 'DELETE', target: '/folder/c.txt' },
  { name: '14: delete a page', method: 'DELETE', target: '/folder/page.html' },
  { name: '14: delete a folder of 10 files', method: 'DELETE', target: '/ten' },
  ...Array.from({ length: 10 }, (_, batch) => upload('/large', fileNames(100, batch))),
  { name: '14: delete a folder of 1,000 files', method: 'DELETE', target: '/large' },
  ...Array.from({ length: 21 }, (_, batch) => upload('/huge', fileNames(100, batch))),
  { name: '14: delete a folder of 2,100 files', method: 'DELETE', target: '/huge' },
]

// In milliseconds. A change in a folder of at most two minutes looks above the folder once more.
const ageOfFolders = 600_000

const settings = {
  dataCentre: 'us',
  largestFile: 100 * mebibyte,
  largestResumableFile: 100 * mebibyte,
  reservedFolders: ['Templates'],
}

const performOnFiles = async (
  handler: Handler,
  token: string,
  { method, target, contentType, body }: StorageRequest,
) => {
  const [path = '', search] = target.split('?')
  const { status } = await send(handler, method, `/api/v2/admin/sites/1001/storage${path}`, {
    headers: { Authorization: token, Accept: '*/*', ...(contentType && { 'Content-Type': contentType }) },
    query: Object.fromEntries(new URLSearchParams(search)),
    ...(body && { body }),
  })
  if (status !== 200 && status !== 302) throw new Error(`${method} ${target}: ${status}`)
}

/** Counts the requests that reach `AWS_ENDPOINT_URL`, and the capacity units that the tables report. */
const measureStorageCosts = async (
  dynamodb: DynamoDBDocumentClient,
  token: string,
  takeConsumed: () => Consumed,
): Promise<readonly Table[]> => {
  const { downloads, linkTo, stores } = await openCloudFiles(dynamodb, ageOfFolders)
  const surroundings = { ...unlogged, downloads, linkTo }
  const deps = createStorageDeps(settings, { ...storesOver(dynamodb), ...stores }, surroundings)
  const handler = createStorageHandler(deps)
  const before = requestCosts('storage', prices.assumedSecondsWithFiles)
  // The first listing that continues after a key finds out how the store compares names.
  await stores.files.list({ prefix: 'live/', folded: false, limit: 1, after: 'live/' })
  const sent: CloudRequest[] = []
  const stop = watchCloudRequests((request) => void sent.push(request))
  const rows: (string | number)[][] = []
  for (const request of storageRequests) {
    takeConsumed()
    sent.length = 0
    await performOnFiles(handler, token, request)
    if (request.name === undefined) continue
    const counted = countRequests(sent)
    const { writes, reads, queue } = counted
    const consumed = takeConsumed()
    const store = tableCosts(consumed) + fileCosts(counted)
    const { readUnits, writeUnits } = consumed
    rows.push([request.name, readUnits, writeUnits, writes, reads, queue, dollars(store), dollars(before + store)])
  }
  stop()
  return [
    {
      title: 'What a million requests cost: storage (US dollars)',
      columns: ['request', 'read units', 'write units', 'S3 writes', 'S3 reads', 'SQS', 'store', 'in all'],
      rows,
    },
  ]
}

const costsOf = async (
  { group, fill, open, requests }: Exercise,
  dynamodb: DynamoDBDocumentClient,
  token: string,
  takeConsumed: () => Consumed,
): Promise<Table> => {
  await fill(dynamodb)
  const handler = await open(dynamodb, unlogged)
  // The first request finds empty caches, which is not typical of a million requests, so it is not counted.
  const [last] = requests.slice(-1)
  if (last) await perform(handler, token, last)
  const before = requestCosts(group, prices.assumedSeconds)
  const rows: (string | number)[][] = []
  for (const request of requests) {
    takeConsumed()
    await perform(handler, token, request)
    const consumed = takeConsumed()
    const store = tableCosts(consumed)
    const [path = ''] = request.target.split('/sites/1001').slice(-1)
    const { readUnits, writeUnits } = consumed
    rows.push([`${request.method} ${path}`, readUnits, writeUnits, dollars(store), dollars(before + store)])
  }
  return {
    title: `What a million requests cost: ${group} (US dollars)`,
    columns: ['request', 'read units', 'write units', 'store', 'in all'],
    rows,
  }
}

/** Measures the work after a change: an event of the stream, and a message of the queue. */
const measureDelivery = async (dynamodb: DynamoDBDocumentClient, takeConsumed: () => Consumed): Promise<Table> => {
  const { record, leases, ...stores } = storesOver(dynamodb)
  const target = { permitsPrivate: false, close: () => {}, send: async () => ({ status: 204 }) }
  const deps = createDeliveryDeps({ ...stores, seals: unsealed }, { target })
  const messages: string[] = []
  const work = createWebhookWorker({
    ...{ ...deps, leases },
    queue: { send: async ({ site: of }) => void messages.push(JSON.stringify({ site: String(of) })) },
  })
  const invoke = (Records: readonly object[]) =>
    work({ Records } as never, { getRemainingTimeInMillis: () => 28_000 } as never)
  await stores.webhooks.clear(site)
  await fillWebhooks(stores)
  const enable = ({ failingSince: _, ...webhook }: Webhook) => ({ ...webhook, enabled: true, retries: [] })
  await stores.webhooks.change(site, 'whk_0000000000000001', enable, entry)
  const rows: (string | number)[][] = []
  const measure = async (name: string, calls: number, run: () => Promise<unknown>) => {
    takeConsumed()
    await run()
    const { readUnits, writeUnits, ...rest } = takeConsumed()
    const store = tableCosts({ readUnits, writeUnits, ...rest }) + calls * fileCosts({ writes: 0, reads: 0, queue: 1 })
    rows.push([name, readUnits, writeUnits, calls, dollars(store)])
  }
  const message = () => invoke(messages.splice(0, 1).map((body) => ({ messageId: '1', body })))
  await record({ ...entry, site, type: 'file.stored' })
  await invoke([{ eventSource: 'aws:dynamodb', dynamodb: { Keys: { site: { N: String(site) } } } }])
  await message()
  await measure('the history entry, with and without webhooks', 0, () =>
    record({ ...entry, site, type: 'file.stored' }),
  )
  const read = [{ eventSource: 'aws:dynamodb', dynamodb: { Keys: { site: { N: String(site) } } } }]
  await measure('the event of the stream', 1, () => invoke(read))
  // A worker receives and deletes a message.
  await measure('the message with its delivery', 2, message)
  return {
    title: 'Costs of a million deliveries of single changes, without Lambda (US dollars)',
    columns: ['part', 'read units', 'write units', 'SQS', 'store'],
    rows,
  }
}

/** The costs of the requests and deliveries that use only tables. */
export const measureTableCosts: Bench = () =>
  onTables(async (dynamodb) => {
    const token = await fillDirectory(storesOver(dynamodb))
    const ofOwner = await addOwner(storesOver(dynamodb))
    const takeConsumed = meter(dynamodb)
    const measured: Table[] = []
    for (const exercise of exercises) {
      // `measureStorageCosts` counts the costs of files, with the deployed file stores.
      if (exercise.group === 'storage') continue
      const own = exercise.group === 'access' || exercise.group === 'webhooks' ? ofOwner : token
      measured.push(await costsOf(exercise, dynamodb, own, takeConsumed))
    }
    return [...measured, await measureDelivery(dynamodb, takeConsumed)]
  })

const measureFileCosts: Bench = () =>
  onTables(async (dynamodb) => {
    const token = await fillDirectory(storesOver(dynamodb))
    const takeConsumed = meter(dynamodb)
    const inParts = await measurePartsCosts(dynamodb, token, takeConsumed)
    const ofStorage = () => measureStorageCosts(dynamodb, token, takeConsumed)
    return [inParts, await measureRounds(), ...(await atEndpoint('the costs of the storage are', ofStorage))]
  })

/** Computes the cost of each operation at list prices from the reported capacity. */
export const costs: Bench = async () => [...(await measureTableCosts()), ...(await measureFileCosts())]
