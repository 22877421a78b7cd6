import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { countOpenUploads } from '../../../lib/aws/dynamodb/uploads.ts'
import { createUsageCounts, recountSites } from '../../../lib/aws/dynamodb/usage-counts.ts'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import { openUploads } from '../../../lib/aws/open-tables.ts'
import { inParallel } from '../../../lib/core/in-parallel.ts'
import { createDeadline, systemClock } from '../../../lib/core/time.ts'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { openTestBucket, type TestBucket } from '../../support/bucket.ts'
import type { Between } from '../../support/files.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { tableSettings } from '../../support/tables.ts'
import { openStorage, type StorageOptions } from './service.ts'

type OnAws = StorageOptions & {
  readonly bucket?: TestBucket
  /** Changes the clients before the stores use them. */
  readonly prepare?: (clients: Clients) => void
}

interface Clients {
  readonly client: S3Client
  readonly once: S3Client
  readonly dynamodb: DynamoDBDocumentClient
  readonly dynamodbOnce: DynamoDBDocumentClient
}

/** Files in S3, locks, uploads and history in DynamoDB. Sites and tokens are in another store. */
export const openStorageOnAws = async (given: OnAws = {}) => {
  const { bucket = await openTestBucket(), prepare, between = () => ({}), ...options } = given
  const { connect } = bucket
  const tables = openMemoryTables()
  const settings = { ...tableSettings(tables.names), filesBucket: bucket.bucket, keptDays: 30, removalsQueueUrl: '' }
  const [client, once, dynamodb, dynamodbOnce] = [connect(), connect(1), tables.connect(), tables.connect(1)]
  prepare?.({ client, once, dynamodb, dynamodbOnce })
  const now = options.clock?.wall
  const uploadTables = openUploads(settings, { dynamodb, now })
  const s3 = { client, once }
  const fileStores = openFileStores(settings, { dynamodb, once: dynamodbOnce, s3, now, ...uploadTables })
  const { downloads: _, linkTo: __, removalQueue: ___, ...onBucket } = fileStores
  const { files, counts } = onBucket
  // Separate clients for reading, because tests make the other clients fail.
  const usage = createUsageCounts({ dynamodb: tables.connect(), table: tables.names.pathLocks, now })
  const onAws: Between = (stores) => {
    const changed = { ...stores, ...onBucket, usage, ...uploadTables }
    return { ...changed, ...between(changed) }
  }
  const filler = connect()
  const storage = await openStorage({ ...options, between: onAws })
  const readingUploads = { dynamodb: tables.connect(), table: tables.names.uploads, now }
  const openBytes = () => countOpenUploads(readingUploads)
  const { sites } = storage.stores
  const ofSites = { sites, dataCentre: 'us', counts, countOpenUploads: openBytes, clock: options.clock ?? systemClock }
  return {
    ...storage,
    counts,
    openUploadBytes: async () => (await openBytes()).get(storage.site) ?? 0,
    /** Runs one step of the recount, which has this many milliseconds. `during` runs before each listing. */
    async recount(during = async () => {}, time = Number.POSITIVE_INFINITY) {
      const list: ObjectStore['list'] = async (query) => {
        await during()
        return files.list(query)
      }
      const deadline = createDeadline(() => time)
      await recountSites({ ...ofSites, files: { list } }, deadline)
    },
    async fill(keys: readonly string[]) {
      const empty = { Bucket: bucket.bucket, Body: Buffer.alloc(0) }
      await inParallel(keys, 50, async (Key) => void (await filler.send(new PutObjectCommand({ ...empty, Key }))))
    },
  }
}

/** The two kinds of stores. Each call opens empty stores. */
export const storageHands = [
  { name: 'one machine', open: openStorage },
  { name: 'AWS', open: (options?: StorageOptions) => openStorageOnAws(options) },
]
