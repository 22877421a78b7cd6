import { DeleteObjectsCommand, ListObjectVersionsCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { openObjectStore, openTestBucket } from '../../support/bucket.ts'
import { type Ability, abilities, describeCopies, describeObjectStore } from './object-store.suite.ts'

type Check = (client: S3Client, Bucket: string) => Promise<boolean>

const checks: Readonly<Record<Ability, Check>> = {
  /** AWS refuses to delete an object that has another tag. */
  async comparesVersions(client, Bucket) {
    await client.send(new PutObjectCommand({ Bucket, Key: 'probe', Body: 'x' }))
    const Delete = { Objects: [{ Key: 'probe', ETag: '0'.repeat(32) }] }
    const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket, Delete }))
    return Errors.some(({ Code }) => Code === 'PreconditionFailed')
  },
  /** AWS lists objects and folders in the order of their keys, also on short pages of versions. */
  async ordersVersions(client, Bucket) {
    for (const Key of ['p/a', 'p/b/c']) await client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }))
    const page = new ListObjectVersionsCommand({ Bucket, Prefix: 'p/', Delimiter: '/', MaxKeys: 1 })
    const { Versions: [first] = [] } = await client.send(page)
    return first?.Key === 'p/a'
  },
}

const open = async (largestCopy?: number) => {
  const { bucket, connect, leftovers } = await openTestBucket()
  const client = connect()
  const lacks: Ability[] = []
  for (const ability of ['comparesVersions', 'ordersVersions'] as const) {
    if (await checks[ability](client, bucket)) continue
    lacks.push(ability)
    console.warn(`\nSome cases are SKIPPED, because ${abilities[ability]}.\n`)
  }
  return {
    lacks,
    store: openObjectStore({ bucket, connect }, { client, largestCopy }),
    leftovers,
    close: async () => client.destroy(),
  }
}

describeObjectStore('The object store in S3', () => open())
describeCopies('The object store in S3, with copies in parts', () => open(0))
