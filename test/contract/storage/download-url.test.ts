import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { createPathLocks } from '../../../lib/aws/dynamodb/path-locks.ts'
import { downloadLink } from '../../../lib/aws/s3/read.ts'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import { openBucketInMemory } from '../../support/bucket.ts'
import { unrecorded } from '../../support/history.ts'
import { openTestTables } from '../../support/tables.ts'

/**
 * A bucket in memory, the URLs to its files, and what is there: it stands in for the network of the SDK, and of a
 * browser.
 */
const openDownloads = async () => {
  const { bucket, connect, s3 } = openBucketInMemory()
  const client = connect()
  const tables = await openTestTables()
  const { removals } = createPathLocks({
    dynamodb: tables.connect(),
    table: tables.names.pathLocks,
    record: unrecorded,
  })
  const store = createS3ObjectStore({ client, once: client, bucket, removals, record: unrecorded })
  return {
    put: (key: string, Body: string) =>
      client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body, ContentType: 'text/html' })),
    async urlOf(key: string): Promise<URL> {
      const object = await store.find(key)
      return new URL(object ? (await downloadLink({ client, name: bucket }, object)).url : '')
    },
    async get({ pathname, searchParams }: URL): Promise<string> {
      const query = Object.fromEntries(searchParams)
      const { response } = await s3.requestHandler.handle({ method: 'GET', path: pathname, query, headers: {} })
      return Buffer.concat(await response.body.toArray()).toString()
    },
    close: () => tables.close(),
  }
}

describe('the URL of a file in the bucket', () => {
  it('gives the version that was there, though the file is replaced meanwhile', async () => {
    const { put, urlOf, get, close } = await openDownloads()
    await put('live/1001/a.txt', 'first')
    const url = await urlOf('live/1001/a.txt')
    await put('live/1001/a.txt', 'second')
    expect(await get(url)).toBe('first')
    expect(await get(await urlOf('live/1001/a.txt'))).toBe('second')
    await close()
  })

  it('ends with the credentials that it is signed with', async () => {
    const linkUntil = (expiration: Date) => {
      const credentials = async () => ({ accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c', expiration })
      const client = new S3Client({ region: 'local', endpoint: 'http://s3.test', credentials })
      return downloadLink({ client, name: 'memory' }, { key: 'live/1001/a.txt' })
    }
    const soon = new Date(Date.now() + 60_000)
    expect((await linkUntil(soon)).expires).toBe(soon.getTime())
    const { url, expires } = await linkUntil(new Date(Date.now() + 3_600_000))
    const signed = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(new URL(url).searchParams.get('X-Amz-Date') ?? '')
    const [, year, month, day, hour, minute, second] = (signed ?? []).map(Number)
    const signedAt = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second)
    expect(expires).toBe(signedAt + 300_000)
  })

  it('makes an attachment of no particular type of it, under the name of the file, for five minutes (S-69, S-73)', async () => {
    const { put, urlOf, close } = await openDownloads()
    await put('live/1001/pages/größe.html', '<script>')
    const { searchParams } = await urlOf('live/1001/pages/größe.html')
    expect(Object.fromEntries(searchParams)).toMatchObject({
      'response-content-disposition': `attachment; filename="gr__e.html"; filename*=UTF-8''gr%C3%B6%C3%9Fe.html`,
      'response-content-type': 'application/octet-stream',
      'X-Amz-Expires': '300',
    })
    await close()
  })
})
