import { PutObjectCommand } from '@aws-sdk/client-s3'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import { inParallel } from '../../../lib/core/in-parallel.ts'
import type { Surroundings } from '../../../lib/service/deps.ts'
import { openTestBucket } from '../../support/bucket.ts'
import { openTestTables, tableSettings } from '../../support/tables.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

/** What the operations on files are proved on, each empty and for one test. */
interface StorageHand {
  readonly name: string
  open(options?: Pick<Surroundings, 'clock'>): Promise<StorageUnderTest>
}

/** Files in S3 and their locks in DynamoDB; sites and tokens are kept elsewhere, which makes no difference. */
const openOnAws: StorageHand['open'] = async (options = {}) => {
  const { bucket, connect } = await openTestBucket()
  const tables = await openTestTables()
  const settings = { ...tableSettings(tables.names), filesBucket: bucket, keptDays: 30, removalsQueueUrl: '' }
  const s3 = { client: connect(), once: connect(1) }
  const { files, workflows, removals, history } = openFileStores(settings, { dynamodb: tables.connect(), s3 })
  const filler = connect()
  const storage = await openStorage({ ...options, between: () => ({ files, workflows, removals, history }) })
  return {
    ...storage,
    fill: (keys) =>
      inParallel(
        keys,
        50,
        async (Key) => void (await filler.send(new PutObjectCommand({ Bucket: bucket, Key, Body: Buffer.alloc(0) }))),
      ),
    async close() {
      await storage.close()
      await tables.close()
    },
  }
}

export const storageHands: readonly StorageHand[] = [
  { name: 'one machine', open: openStorage },
  { name: 'AWS', open: openOnAws },
]
