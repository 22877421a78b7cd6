import { openFileStores } from '../../../lib/aws/open-files.ts'
import { openUploads } from '../../../lib/aws/open-tables.ts'
import { openBucketInMemory } from '../../support/bucket.ts'
import type { Between } from '../../support/files.ts'
import { unrecorded } from '../../support/history.ts'
import { openTestTables, tableSettings } from '../../support/tables.ts'
import { openUploads as openService, type UploadsOptions, type UploadsUnderTest } from './service.ts'

/** A kind of stores. Each call opens an empty one. */
interface UploadsHand {
  readonly name: string
  open(options?: UploadsOptions): Promise<UploadsUnderTest>
}

/** Uploads over DynamoDB and S3. Sites and tokens are elsewhere, which makes no difference. */
const openOnAws = async ({ between = () => ({}), ...options }: UploadsOptions = {}): Promise<UploadsUnderTest> => {
  const { bucket: name, connect } = openBucketInMemory()
  const s3 = { client: connect(), once: connect(1) }
  const tables = await openTestTables()
  const settings = { ...tableSettings(tables.names), filesBucket: name, keptDays: 30, removalsQueueUrl: '' }
  const dynamodb = tables.connect()
  const { files, workflows, removals, uploadParts } = openFileStores(settings, { dynamodb, s3, record: unrecorded })
  const uploadTables = openUploads(settings, { dynamodb, now: options.clock?.wall })
  const onAws: Between = (stores) => {
    const changed = { ...stores, files, workflows, removals, uploadParts, ...uploadTables }
    return { ...changed, ...between(changed) }
  }
  const service = await openService({ ...options, between: onAws })
  return {
    ...service,
    async close() {
      await service.close()
      await tables.close()
    },
  }
}

export const uploadsHands: readonly UploadsHand[] = [
  { name: 'one machine', open: openService },
  { name: 'AWS', open: openOnAws },
]
