import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import { openUploads } from '../../../lib/aws/open-tables.ts'
import { inParallel } from '../../../lib/core/in-parallel.ts'
import { openTestBucket, type TestBucket } from '../../support/bucket.ts'
import type { Between } from '../../support/files.ts'
import { openTestTables, tableSettings } from '../../support/tables.ts'
import { openStorage, type StorageOptions, type StorageUnderTest } from './service.ts'

type OnAws = StorageOptions & {
  readonly bucket?: TestBucket
  /** Changes the clients before the stores use them. */
  readonly prepare?: (clients: Readonly<{ client: S3Client; once: S3Client; dynamodb: DynamoDBDocumentClient }>) => void
}

/** Files in S3, locks, uploads and history in DynamoDB. Sites and tokens are in another store. */
export const openStorageOnAws = async (given: OnAws = {}): Promise<StorageUnderTest> => {
  const { bucket = await openTestBucket(), prepare, between = () => ({}), ...options } = given
  const { connect } = bucket
  const tables = await openTestTables()
  const settings = { ...tableSettings(tables.names), filesBucket: bucket.bucket, keptDays: 30, removalsQueueUrl: '' }
  const [client, once, dynamodb] = [connect(), connect(1), tables.connect()]
  prepare?.({ client, once, dynamodb })
  const fileStores = openFileStores(settings, { dynamodb, s3: { client, once } })
  const { files, workflows, removals, history, uploadParts, directParts } = fileStores
  const uploadTables = openUploads(settings, { dynamodb, now: options.clock?.wall })
  const onAws: Between = (stores) => {
    const changed = { ...stores, files, workflows, removals, history, uploadParts, directParts, ...uploadTables }
    return { ...changed, ...between(changed) }
  }
  const filler = connect()
  const storage = await openStorage({ ...options, between: onAws })
  return {
    ...storage,
    async fill(keys) {
      const empty = { Bucket: bucket.bucket, Body: Buffer.alloc(0) }
      await inParallel(keys, 50, async (Key) => void (await filler.send(new PutObjectCommand({ ...empty, Key }))))
    },
    async close() {
      await storage.close()
      await tables.close()
    },
  }
}

/** The two kinds of stores. Each call opens an empty one. */
export const storageHands = [
  { name: 'one machine', open: openStorage },
  { name: 'AWS', open: (options?: StorageOptions) => openStorageOnAws(options) },
]
