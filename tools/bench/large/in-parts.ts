import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { connect } from '../../../client/src/index.ts'
import { createStorageHandler } from '../../../functions/storage/group.ts'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import { createStorageDeps } from '../../../lib/service/deps.ts'
import { openBucketInMemory } from '../../../test/support/bucket.ts'
import { site, storesOver } from '../../../test/support/every-operation.ts'
import { send } from '../../../test/support/gateway.ts'
import { mebibyte, type Table } from '../measure/figures.ts'
import { journalTable, pathLocksTable, unlogged } from '../measure/grounds.ts'
import type { Consumed } from '../measure/meter.ts'
import { countRequests, prices, uploadCosts } from '../measure/prices.ts'

const gibibyte = 1024 * mebibyte
const settings = { dataCentre: 'us', largestFile: gibibyte, largestResumableFile: gibibyte, reservedFolders: [] }
const base = 'https://us.example.com'

/** A client of the service, and of a bucket in memory. */
const openClient = async (dynamodb: DynamoDBDocumentClient, token: string) => {
  const bucket = openBucketInMemory()
  const fileSettings = { filesBucket: bucket.bucket, pathLocksTable, journalTable, keptDays: 30, removalsQueueUrl: '' }
  const s3 = { client: bucket.connect(), once: bucket.connect(1) }
  const { downloads, linkTo, ...stores } = openFileStores(fileSettings, { dynamodb, s3 })
  const surroundings = { ...unlogged, downloads, linkTo }
  const handler = createStorageHandler(
    createStorageDeps(settings, { ...storesOver(dynamodb), ...stores }, surroundings),
  )
  let requests = 0
  const fetchIn = async (input: string, init: RequestInit): Promise<Response> => {
    const url = new URL(input)
    const query = Object.fromEntries(url.searchParams)
    const { method, headers: given } = new Request(input, { ...init, body: null })
    const headers = Object.fromEntries(given)
    if (url.origin !== base) {
      const request = { method, path: url.pathname, query, headers, body: init.body }
      const { response } = await bucket.connect().config.requestHandler.handle(request as never)
      return new Response(null, { status: response.statusCode })
    }
    if (url.pathname.endsWith('/admin/sites')) {
      return Response.json({ items: [{ id: site, name: 'Own', url: base, permissions: ['files'] }] })
    }
    requests += 1
    const sent = { headers, query, ...(init.body && { body: String(init.body) }) }
    const { status, headers: received, text } = await send(handler, method, url.pathname, sent)
    return new Response(status === 204 ? null : text, { status, headers: received as Record<string, string> })
  }
  const client = await connect({ url: base, token, site, fetch: fetchIn })
  return { client, bucket, requests: () => requests }
}

/** Counts the requests of the client library, with a bucket in memory. Nothing is calculated from assumed requests. */
export const measurePartsCosts = async (
  dynamodb: DynamoDBDocumentClient,
  token: string,
  takeConsumed: () => Consumed,
): Promise<Table> => {
  const { client, bucket, requests } = await openClient(dynamodb, token)
  const one = Buffer.alloc(8 * mebibyte, 'x')
  const source = { size: gibibyte, slice: (start: number, end: number) => one.subarray(0, end - start) }
  takeConsumed()
  await client.files.put('large.bin', source)
  const consumed = takeConsumed()
  const sent = bucket.s3.requests
    .map(({ method, query = {}, headers }) => ({
      method,
      parameters: Object.keys(query),
      headers: Object.keys(headers),
      target: null,
    }))
    // S3 lists all parts of this upload in one page. The pages of the bucket in memory are small.
    .filter(({ parameters }) => !parameters.includes('part-number-marker'))
  const title = 'What an upload of a GiB in parts costs (US dollars)'
  return uploadCosts(title, requests(), prices.assumedSecondsWithFiles, consumed, countRequests(sent))
}
