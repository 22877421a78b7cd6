import type { ListObjectsV2CommandInput, ListObjectsV2CommandOutput } from '@aws-sdk/client-s3'
import type { Context, SQSEvent } from 'aws-lambda'
import { createFolderRemovals } from '../../../lib/aws/dynamodb/folder-removals.ts'
import { createRemovalWorker } from '../../../lib/aws/lambda/removal-worker.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'

const task = { site: 1001 as SiteId, path: toStoragePath('large'), id: 'removal' }
const prefix = 'live/1001/large/'
/** The number of objects that one call lists or deletes. */
const pageSize = 1_000
/** Milliseconds that a worker has for one message, without its reserve. */
const slice = 60_000

/** Removes a folder of `pages` pages in slices of `each` pages. Behind each key is an older delete marker. */
export const removeInSlices = async ({ pages, each }: { readonly pages: number; readonly each: number }) => {
  const { s3, ...bucket } = openBucketInMemory()
  const numbers = Array.from({ length: pages * pageSize }, (_, index) => String(index).padStart(6, '0'))
  const keys = numbers.flatMap((number) => [`${prefix}${number}`, `${prefix}${number}-older`])
  for (const key of keys) {
    const request = { path: `/memory/${key}`, query: {}, headers: {} }
    await s3.requestHandler.handle({ ...request, method: 'PUT' })
    if (key.endsWith('-older')) await s3.requestHandler.handle({ ...request, method: 'DELETE' })
  }

  const positions = new Map(keys.map((key, index) => [key, index]))
  let listings = 0
  /** The number of keys and delete markers that S3 reads for all listings of the folder. */
  let passed = 0
  const connect = (attempts?: number) => {
    const client = bucket.connect(attempts)
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const result = await next(args)
          const { Prefix, StartAfter = '' } = args.input as ListObjectsV2CommandInput
          if (commandName !== 'ListObjectsV2Command' || Prefix !== prefix) return result
          const { IsTruncated, Contents = [] } = result.output as ListObjectsV2CommandOutput
          const last = IsTruncated ? positions.get(Contents.at(-1)?.Key ?? '') : undefined
          listings += 1
          passed += (last ?? keys.length - 1) - (positions.get(StartAfter) ?? -1)
          return result
        },
      { step: 'initialize' },
    )
    return client
  }

  const tables = openMemoryTables(() => time)
  let time = Date.UTC(2026, 0, 1)
  const clock = { wall: () => time, monotonic: () => time }
  const dynamodb = tables.connect()
  const removals = createFolderRemovals({
    dynamodb,
    table: tables.names.pathLocks,
    record: unrecorded,
    now: clock.wall,
  })
  const store = openObjectStore({ bucket: bucket.bucket, connect })
  const files: typeof store = {
    ...store,
    async remove(...args) {
      const bytes = await store.remove(...args)
      time += slice / each
      return bytes
    },
  }
  const messages = ['message 0']
  const removalQueue = { send: async () => `message ${messages.push('the rest')}` }
  const worker = createRemovalWorker({ files, removals, removalQueue, clock })
  await removals.open(task.site, task.path, task.id, entry)
  const body = JSON.stringify({ ...task, site: String(task.site) })
  let slices = 0
  for (; slices < messages.length; slices++) {
    const event = { Records: [{ body, messageId: `message ${slices}` }] } as SQSEvent
    await worker(event, { getRemainingTimeInMillis: () => slice + 30_000 } as Context)
  }
  const isOpen = (await removals.locksOf(task.site, [task.path])).open.length > 0
  const isLeft = await openObjectStore(bucket).exists(prefix)
  await tables.close()
  return { slices, listings, passed, isOpen, isLeft }
}
