import { createPathLocks } from '../../../lib/aws/dynamodb/path-locks.ts'
import { createUploadProgress } from '../../../lib/aws/dynamodb/upload-progress.ts'
import { createUploadRecords } from '../../../lib/aws/dynamodb/upload-records.ts'
import { openBucket } from '../../../lib/aws/s3/bucket.ts'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import { createUploadParts } from '../../../lib/aws/s3/upload-parts.ts'
import { openBucketInMemory } from '../../support/bucket.ts'
import type { Between } from '../../support/files.ts'
import { unrecorded } from '../../support/history.ts'
import { openTestTables } from '../../support/tables.ts'
import { openUploads, type UploadsOptions, type UploadsUnderTest } from './service.ts'

/** What resumable uploads are proved on, each empty and for one test. */
interface UploadsHand {
  readonly name: string
  open(options?: UploadsOptions): Promise<UploadsUnderTest>
}

/** Uploads over DynamoDB and S3; sites and tokens are kept elsewhere, which makes no difference. */
const openOnAws = async ({ between = () => ({}), ...options }: UploadsOptions = {}): Promise<UploadsUnderTest> => {
  const { bucket: name, connect } = openBucketInMemory()
  const clients = { client: connect(), once: connect(1) }
  const tables = await openTestTables()
  const dynamodb = tables.connect()
  const { workflows, removals } = createPathLocks({ dynamodb, table: tables.names.pathLocks, record: unrecorded })
  const files = createS3ObjectStore({ ...clients, bucket: name, removals, record: unrecorded })
  const uploads = { dynamodb, table: tables.names.uploads, now: options.clock?.wall }
  const onAws: Between = (stores) => {
    const changed = {
      ...stores,
      files,
      workflows,
      removals,
      progress: createUploadProgress(uploads),
      uploadRecords: createUploadRecords(uploads),
      uploadParts: createUploadParts({ bucket: openBucket({ ...clients, name }), adopt: files.adopt }),
    }
    return { ...changed, ...between(changed) }
  }
  const service = await openUploads({ ...options, between: onAws })
  return {
    ...service,
    async close() {
      await service.close()
      await tables.close()
    },
  }
}

export const uploadsHands: readonly UploadsHand[] = [
  { name: 'one machine', open: openUploads },
  { name: 'AWS', open: openOnAws },
]
