import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { connect } from '../../../client/src/index.ts'
import { createStorageHandler } from '../../../functions/storage/group.ts'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import { createStorageDeps } from '../../../lib/service/deps.ts'
import { openBucketInMemory } from '../../../test/support/bucket.ts'
import { fillDirectory, site, storesOver } from '../../../test/support/every-operation.ts'
import { send } from '../../../test/support/gateway.ts'
import { openMemoryTables } from '../../../test/support/memory-dynamodb.ts'
import { createRounds } from '../../../test/support/rounds.ts'
import type { S3Request } from '../../../test/support/s3-messages.ts'
import { aroundCommands } from '../../../test/support/store-faults.ts'
import { atMost, mebibyte, type Table } from '../measure/figures.ts'
import { journalTable, pathLocksTable, unlogged } from '../measure/grounds.ts'
import type { Consumed } from '../measure/meter.ts'
import { countRequests, prices, uploadCosts } from '../measure/prices.ts'

const gibibyte = 1024 * mebibyte
const settings = { dataCentre: 'us', largestFile: gibibyte, largestResumableFile: gibibyte, reservedFolders: [] }
const base = 'https://us.example.com'
/** API Gateway accepts bodies of this size. */
const mostInRequest = 4_500_000

/** S3 lists all parts of these uploads in one page. The pages of the bucket in memory are small. */
const isExtraPage = ({ query = {} }: Pick<S3Request, 'query'>): boolean => 'part-number-marker' in query

/** A client of the service, and of a bucket in memory. Without `offersParts`, the client sends files by tus. */
const openClient = async (dynamodb: DynamoDBDocumentClient, token: string, { offersParts = true } = {}) => {
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
    if (!offersParts && 'parts' in query) return new Response(null, { status: 404 })
    requests += 1
    const body = init.body && Buffer.from(await new Response(init.body).arrayBuffer())
    if (body && body.length > mostInRequest) return new Response(null, { status: 413 })
    const sent = { headers, query, ...(body && { body }) }
    const { status, headers: received, text } = await send(handler, method, url.pathname, sent)
    return new Response(status === 204 ? null : text, { status, headers: received as Record<string, string> })
  }
  const client = await connect({ url: base, token, site, fetch: fetchIn })
  return { client, bucket, requests: () => requests }
}

const piece = Buffer.alloc(8 * mebibyte, 'x')
const sourceOf = (size: number) => ({ size, slice: (start: number, end: number) => piece.subarray(0, end - start) })

/** Counts the requests of the client library, with a bucket in memory. Nothing is calculated from assumed requests. */
export const measurePartsCosts = async (
  dynamodb: DynamoDBDocumentClient,
  token: string,
  takeConsumed: () => Consumed,
): Promise<Table> => {
  const { client, bucket, requests } = await openClient(dynamodb, token)
  takeConsumed()
  await client.files.put('large.bin', sourceOf(gibibyte))
  const consumed = takeConsumed()
  const sent = bucket.s3.requests
    .filter((request) => !isExtraPage(request))
    .map(({ method, query = {}, headers }) => ({
      method,
      parameters: Object.keys(query),
      headers: Object.keys(headers),
      target: null,
    }))
  const title = 'What an upload of a GiB in parts costs (US dollars)'
  return uploadCosts(title, requests(), prices.assumedSecondsWithFiles, consumed, countRequests(sent))
}

const hundredMegabytes = 100_000_000
const mostRounds = 10

/**
 * Counts the rounds of an upload of 100 MB. In one round, the client or the service waits for calls to the stores that
 * run at the same time.
 */
const countRounds = async (offersParts: boolean) => {
  const dynamodb = openMemoryTables().connect()
  const token = await fillDirectory(storesOver(dynamodb))
  let asked = async () => {}
  aroundCommands(dynamodb, 'call', (call) => asked().then(call))
  const { client, bucket, requests } = await openClient(dynamodb, token, { offersParts })
  bucket.s3.before = async (request) => (isExtraPage(request) ? undefined : asked())
  // The first upload also looks for the end of the history.
  await client.files.put('first.bin', sourceOf(9 * mebibyte))
  const before = requests()
  const { count, ask } = createRounds()
  asked = ask
  await client.files.put('large.bin', sourceOf(hundredMegabytes))
  return { requests: requests() - before, rounds: count.rounds }
}

export const measureRounds = async (): Promise<Table> => {
  const inParts = await countRounds(true)
  const byTus = await countRounds(false)
  return {
    title: 'Rounds of an upload of 100 MB',
    columns: ['upload', 'requests to the service', 'rounds', 'target', 'verdict'],
    rows: [
      ['in parts', inParts.requests, inParts.rounds, ...atMost(inParts.rounds, mostRounds)],
      ['tus', byTus.requests, byTus.rounds, '', ''],
    ],
  }
}
