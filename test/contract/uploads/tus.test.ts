import { createPathLocks } from '../../../lib/aws/path-locks.ts'
import { openBucket } from '../../../lib/aws/s3/bucket.ts'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import { createUploadParts } from '../../../lib/aws/s3/upload-parts.ts'
import { createUploadProgress } from '../../../lib/aws/upload-progress.ts'
import { createUploadRecords } from '../../../lib/aws/upload-records.ts'
import { openBucketInMemory } from '../../support/bucket.ts'
import { unrecorded } from '../../support/history.ts'
import { openTestTables } from '../../support/tables.ts'
import { openUploads } from './service.ts'
import { describeTus } from './tus.suite.ts'

describeTus('one machine', openUploads)

describeTus('AWS', async () => {
  const { bucket: name, connect } = openBucketInMemory()
  const clients = { client: connect(), once: connect(1) }
  const tables = await openTestTables()
  const dynamodb = tables.connect()
  const { workflows, removals } = createPathLocks({ dynamodb, table: tables.names.pathLocks, record: unrecorded })
  const files = createS3ObjectStore({ ...clients, bucket: name, removals, record: unrecorded })
  const uploads = { dynamodb, table: tables.names.uploads }
  const service = await openUploads({
    longestHold: 33_000,
    between: () => ({
      files,
      workflows,
      removals,
      progress: createUploadProgress(uploads),
      uploadRecords: createUploadRecords(uploads),
      uploadParts: createUploadParts({ bucket: openBucket({ ...clients, name }), adopt: files.adopt }),
    }),
  })
  return {
    ...service,
    async close() {
      await service.close()
      await tables.close()
    },
  }
})
