import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createStorageHandler } from '../../functions/storage/group.ts'
import { createStorageDeps } from '../../lib/deps.ts'
import type { Handler } from '../../lib/http/request.ts'
import { type CloudRequest, s3OperationOf, watchCloudRequests } from '../../test/support/cloud-requests.ts'
import { storesOver } from '../../test/support/every-operation.ts'
import { send } from '../../test/support/gateway.ts'
import { openCloudFiles } from '../cloud-files.ts'
import type { Consumed } from '../meter.ts'
import type { Table } from '../table.ts'
import { prices } from './prices.ts'
import { type StorageRequest, storageRequests } from './storage-operations.ts'
import { dollars, requestCosts, tableCosts } from './total.ts'

const settings = { dataCentre: 'us', largestFile: 100 * 1024 ** 2, reservedFolders: ['Templates'] }

const perform = async (handler: Handler, token: string, { method, target, contentType, body }: StorageRequest) => {
  const [path = '', search] = target.split('?')
  const { status } = await send(handler, method, `/api/v2/admin/sites/1001/storage${path}`, {
    headers: { Authorization: token, Accept: '*/*', ...(contentType && { 'Content-Type': contentType }) },
    query: Object.fromEntries(new URLSearchParams(search)),
    ...(body && { body }),
  })
  if (status !== 200 && status !== 302) throw new Error(`${method} ${target}: ${status}`)
}

/** How often the services are asked that charge by the request. */
const countRequests = (requests: readonly CloudRequest[]) => {
  const classes = requests.map((request) => s3OperationOf(request)?.charged)
  return {
    writes: classes.filter((charged) => charged === 'write').length,
    reads: classes.filter((charged) => charged === 'read').length,
    queue: requests.filter(({ target }) => target?.startsWith('AmazonSQS.')).length,
  }
}

/** What the operations of the storage cost: requests as counted at `AWS_ENDPOINT_URL`, units as the tables report them. */
export const measureStorageCosts = async (
  documents: DynamoDBDocumentClient,
  token: string,
  takeConsumed: () => Consumed,
): Promise<readonly Table[]> => {
  if (!process.env['AWS_ENDPOINT_URL']) {
    console.warn('NO AWS_ENDPOINT_URL: what the storage costs is SKIPPED.\n')
    return []
  }
  const { downloads, stores } = await openCloudFiles(documents)
  const surroundings = { telemetry: { request: () => undefined }, downloads }
  const deps = createStorageDeps(settings, { ...storesOver(documents), ...stores }, surroundings)
  const handler = createStorageHandler(deps)
  const before = requestCosts('storage', prices.assumedSecondsWithFiles)
  const sent: CloudRequest[] = []
  const stop = watchCloudRequests((request) => void sent.push(request))
  const rows: (string | number)[][] = []
  for (const request of storageRequests) {
    takeConsumed()
    sent.length = 0
    await perform(handler, token, request)
    if (request.name === undefined) continue
    const { writes, reads, queue } = countRequests(sent)
    const files = writes * prices.s3Write + reads * prices.s3Read + queue * prices.queueRequest
    const consumed = takeConsumed()
    const store = tableCosts(consumed) + files
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
