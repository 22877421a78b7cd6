import { randomBytes } from 'node:crypto'
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { it } from 'vitest'
import { createPathLocks } from '../../../lib/aws/path-locks.ts'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import { openTestTables } from '../../support/tables.ts'
import { describeObjectStore } from './object-store.suite.ts'

const endpoint = process.env['AWS_ENDPOINT_URL']

/** AWS refuses to delete an object under a tag that it does not have. */
const honoursVersions = async (client: S3Client, bucket: string): Promise<boolean> => {
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'probe', Body: 'x' }))
  const Delete = { Objects: [{ Key: 'probe', ETag: '0'.repeat(32) }] }
  const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }))
  return Errors.some(({ Code }) => Code === 'PreconditionFailed')
}

if (endpoint) {
  describeObjectStore('The object store in S3', async () => {
    const client = new S3Client({ forcePathStyle: true, maxAttempts: 3 })
    const bucket = `contract-${randomBytes(6).toString('hex')}`
    await client.send(new CreateBucketCommand({ Bucket: bucket }))
    const VersioningConfiguration = { Status: 'Enabled' } as const
    await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
    const comparesVersions = await honoursVersions(client, bucket)
    if (!comparesVersions)
      console.warn(`\n${endpoint} deletes and copies objects whatever their version: two cases are SKIPPED.\n`)
    const tables = await openTestTables()
    const { removals } = createPathLocks({ documents: tables.connect(), table: tables.names.pathLocks })
    const once = new S3Client({ forcePathStyle: true, maxAttempts: 1 })
    return {
      comparesVersions,
      removals,
      store: createS3ObjectStore({ client, once, bucket, removals }),
      async leftovers() {
        const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
        const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: 'scratch/' }))
        return Uploads.length + Contents.length
      },
      async close() {
        client.destroy()
        await tables.close()
      },
    }
  })
} else {
  console.warn('\nNO AWS_ENDPOINT_URL: the contract of the object store in S3 is SKIPPED.\n')
  it.skip('The object store in S3: set AWS_ENDPOINT_URL to run its contract')
}
