import { PutObjectCommand } from '@aws-sdk/client-s3'
import { createJournal } from '../../../lib/aws/dynamodb/journal.ts'
import { createPathLocks } from '../../../lib/aws/dynamodb/path-locks.ts'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import { inParallel } from '../../../lib/core/in-parallel.ts'
import type { Surroundings } from '../../../lib/service/deps.ts'
import { openTestBucket } from '../../support/bucket.ts'
import { openTestTables } from '../../support/tables.ts'
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
  const dynamodb = tables.connect()
  const { record, history } = createJournal({ dynamodb, table: tables.names.journal })
  const { workflows, removals } = createPathLocks({ dynamodb, table: tables.names.pathLocks, record })
  const files = createS3ObjectStore({ client: connect(), once: connect(1), bucket, removals, record })
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
