import { CopyObjectCommand, DeleteObjectsCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { createPathLocks } from '../../../lib/aws/path-locks.ts'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import { openTestBucket } from '../../support/bucket.ts'
import { openTestTables } from '../../support/tables.ts'
import { describeObjectStore } from './object-store.suite.ts'

const refusalOf = async (call: Promise<unknown>): Promise<string | undefined> => {
  const error = await call.catch((thrown: unknown) => thrown)
  return error instanceof Error ? error.name : undefined
}

/** AWS refuses to delete an object under a tag that it does not have. */
const honoursVersions = async (client: S3Client, bucket: string): Promise<boolean> => {
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'probe', Body: 'x' }))
  const Delete = { Objects: [{ Key: 'probe', ETag: '0'.repeat(32) }] }
  const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }))
  return Errors.some(({ Code }) => Code === 'PreconditionFailed')
}

/** AWS refuses to copy onto an object when nothing may be there. */
const refusesTakenPlaces = async (client: S3Client, bucket: string): Promise<boolean> => {
  for (const Key of ['probe', 'taken']) await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x' }))
  const copy = new CopyObjectCommand({ Bucket: bucket, Key: 'taken', CopySource: `${bucket}/probe`, IfNoneMatch: '*' })
  return (await refusalOf(client.send(copy))) === 'PreconditionFailed'
}

/** AWS refuses to write onto what is there when nothing may be, and onto another tag than the one that it is told. */
const comparesWhatItWritesOnto = async (client: S3Client, bucket: string): Promise<boolean> => {
  const put = { Bucket: bucket, Key: 'probe', Body: 'x' }
  await client.send(new PutObjectCommand(put))
  const refusals = await Promise.all(
    [{ IfNoneMatch: '*' }, { IfMatch: '0'.repeat(32) }].map((conditions) =>
      refusalOf(client.send(new PutObjectCommand({ ...put, ...conditions }))),
    ),
  )
  return refusals.every((name) => name === 'PreconditionFailed')
}

describeObjectStore('The object store in S3', async () => {
  const { bucket, connect, leftovers } = await openTestBucket()
  const client = connect()
  const comparesVersions = await honoursVersions(client, bucket)
  if (!comparesVersions)
    console.warn('\nThis S3 deletes and copies objects whatever their version: some cases are SKIPPED.\n')
  const refusesTaken = await refusesTakenPlaces(client, bucket)
  if (!refusesTaken) console.warn('\nThis S3 copies onto what is there, whatever it is told: a case is SKIPPED.\n')
  const comparesWrites = await comparesWhatItWritesOnto(client, bucket)
  if (!comparesWrites) console.warn('\nThis S3 writes onto whatever is there: some cases are SKIPPED.\n')
  const tables = await openTestTables()
  const { removals } = createPathLocks({ dynamodb: tables.connect(), table: tables.names.pathLocks })
  return {
    comparesVersions,
    refusesTaken,
    comparesWrites,
    removals,
    store: createS3ObjectStore({ client, once: connect(1), bucket, removals }),
    leftovers,
    async close() {
      client.destroy()
      await tables.close()
    },
  }
})
