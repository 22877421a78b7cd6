import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'

const refusalOf = async (call: Promise<unknown>): Promise<string | undefined> => {
  const error = await call.catch((thrown: unknown) => thrown)
  return error instanceof Error ? error.name : undefined
}

/** AWS refuses to delete an object that has another tag. */
export const honoursVersions = async (client: S3Client, bucket: string): Promise<boolean> => {
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'probe', Body: 'x' }))
  const Delete = { Objects: [{ Key: 'probe', ETag: '0'.repeat(32) }] }
  const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }))
  return Errors.some(({ Code }) => Code === 'PreconditionFailed')
}

/** AWS refuses to copy onto an existing object under `If-None-Match: *`. */
export const refusesTakenPlaces = async (client: S3Client, bucket: string): Promise<boolean> => {
  for (const Key of ['probe', 'taken']) await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x' }))
  const copy = new CopyObjectCommand({ Bucket: bucket, Key: 'taken', CopySource: `${bucket}/probe`, IfNoneMatch: '*' })
  return (await refusalOf(client.send(copy))) === 'PreconditionFailed'
}

/** AWS refuses to replace an object under `If-None-Match: *`, and to change an object that has another tag. */
export const comparesWhatItChanges = async (client: S3Client, bucket: string): Promise<boolean> => {
  const object = { Bucket: bucket, Key: 'probe' }
  const put = { ...object, Body: 'x' }
  const IfMatch = '0'.repeat(32)
  await client.send(new PutObjectCommand(put))
  const refusals = await Promise.all([
    refusalOf(client.send(new PutObjectCommand({ ...put, IfNoneMatch: '*' }))),
    refusalOf(client.send(new PutObjectCommand({ ...put, IfMatch }))),
    refusalOf(client.send(new DeleteObjectCommand({ ...object, IfMatch }))),
  ])
  return refusals.every((name) => name === 'PreconditionFailed')
}
