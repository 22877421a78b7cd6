import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
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

/** AWS lists objects and folders in the order of their keys, also on short pages of versions. */
export const ordersVersions = async (client: S3Client, bucket: string): Promise<boolean> => {
  for (const Key of ['p/a', 'p/b/c']) await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x' }))
  const page = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: 'p/', Delimiter: '/', MaxKeys: 1 })
  const { Versions: [first] = [] } = await client.send(page)
  return first?.Key === 'p/a'
}
