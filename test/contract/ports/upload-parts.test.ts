import { join } from 'node:path'
import { createPathLocks } from '../../../lib/aws/dynamodb/path-locks.ts'
import { createUploadRecords } from '../../../lib/aws/dynamodb/uploads.ts'
import { openBucket } from '../../../lib/aws/s3/bucket.ts'
import { createUploadParts } from '../../../lib/aws/s3/upload-parts.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { openObjectStore, openTestBucket } from '../../support/bucket.ts'
import { makeDirectory, removeDirectory } from '../../support/directory.ts'
import { unrecorded } from '../../support/history.ts'
import { openTestTables } from '../../support/tables.ts'
import { describeUploadParts } from './upload-parts.suite.ts'

describeUploadParts('one machine', async () => {
  const folder = makeDirectory()
  const machine = await openMachine(join(folder, 'data'), { role: 'service', durable: false })
  return {
    ...machine.stores,
    async close() {
      await machine.close()
      removeDirectory(folder)
    },
  }
})

const openInS3 = async () => {
  const { bucket: name, connect } = await openTestBucket()
  const clients = { client: connect(), once: connect(1) }
  const tables = await openTestTables()
  const dynamodb = tables.connect()
  const { removals } = createPathLocks({ dynamodb, table: tables.names.pathLocks, record: unrecorded })
  const files = openObjectStore({ bucket: name, connect }, { ...clients, removals })
  return {
    ...clients,
    name,
    files,
    uploadRecords: createUploadRecords({ dynamodb, table: tables.names.uploads }),
    uploadParts: createUploadParts({ bucket: openBucket({ ...clients, name }), adopt: files.adopt }),
    async close() {
      clients.client.destroy()
      await tables.close()
    },
  }
}

describeUploadParts('S3', openInS3)
