import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createStorageHandler } from '../../functions/storage/group.ts'
import { readDeployedStorageConfig } from '../../lib/config.ts'
import { createStorageDeps } from '../../lib/deps.ts'
import type { Handler } from '../../lib/http/request.ts'
import { embeddedTableNames } from '../../local/embedded-tables.ts'
import { type CloudRequest, s3OperationOf, watchCloudRequests } from '../../test/support/cloud-requests.ts'
import { send } from '../../test/support/gateway.ts'
import type { Table } from '../table.ts'
import { openCloudFiles } from './cloud-files.ts'
import type { Units } from './meter.ts'
import { prices } from './prices.ts'
import { type StorageRequest, storageRequests } from './storage-operations.ts'
import { dollars, requestCosts, tableCosts } from './total.ts'

const config = readDeployedStorageConfig({
  DATA_CENTRE: 'us',
  SITES_TABLE: embeddedTableNames.sites,
  TOKENS_TABLE: embeddedTableNames.tokens,
  PAGES_TABLE: embeddedTableNames.pages,
  UPLOADS_TABLE: embeddedTableNames.uploads,
  FILES_BUCKET: 'bench',
  REMOVALS_QUEUE_URL: 'http://127.0.0.1/queue',
})

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

/** What the operations of the storage cost: requests as counted at `AWS_ENDPOINT_URL`, units as the embedded tables report them. */
export const measureStorageCosts = async (
  documents: DynamoDBDocumentClient,
  token: string,
  units: Units,
): Promise<readonly Table[]> => {
  if (!process.env['AWS_ENDPOINT_URL']) {
    console.warn('NO AWS_ENDPOINT_URL: what the storage costs is SKIPPED.\n')
    return []
  }
  const resources = { documents, telemetry: { request: () => undefined }, ...(await openCloudFiles()) }
  const handler = createStorageHandler(createStorageDeps(config, resources))
  const before = requestCosts('storage', prices.assumedSecondsWithFiles)
  const sent: CloudRequest[] = []
  const stop = watchCloudRequests((request) => void sent.push(request))
  const rows: (string | number)[][] = []
  for (const request of storageRequests) {
    Object.assign(units, { read: 0, written: 0 } satisfies Units)
    sent.length = 0
    await perform(handler, token, request)
    if (request.name === undefined) continue
    const { writes, reads, queue } = countRequests(sent)
    const files = writes * prices.s3Write + reads * prices.s3Read + queue * prices.queueRequest
    const store = tableCosts(units) + files
    rows.push([request.name, units.read, units.written, writes, reads, queue, dollars(store), dollars(before + store)])
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
