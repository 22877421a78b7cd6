import { DeleteObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { beforeEach, describe, expect, it } from 'vitest'
import { downloadLink } from '../../../lib/aws/s3/read.ts'
import { createDeadline, unlimited } from '../../../lib/core/time.ts'
import type { Downloads } from '../../../lib/service/deps.ts'
import { fingerprintOf, partLength } from '../../../lib/storage/content.ts'
import { openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'
import { infoOf, putObject } from '../../support/objects.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

const downloads: Downloads = { largestAnswer: 20, urlOf: async ({ key }) => `http://bucket/${key}` }

let opened: ReturnType<typeof openBucketInMemory>
let s3: MemoryS3
let storage: StorageUnderTest

beforeEach(async () => {
  opened = openBucketInMemory()
  s3 = opened.s3
  const files = openObjectStore(opened)
  storage = await openStorage({ between: () => ({ files }), downloads })
  const bodies = { ten: '0123456789', empty: '', full: 'x'.repeat(20), large: 'x'.repeat(22) }
  for (const [name, body] of Object.entries(bodies)) await storage.put(`/${name}`, body)
})

const range = (value: string) => ({ Range: value })
it.each([
  ['GET', '/ten', {}, 200, '0123456789', ['GET']],
  ['GET', '/ten', range('bytes=2-3'), 206, '23', ['GET']],
  ['GET', '/ten', range('bytes=1-2,4-5'), 200, '0123456789', ['GET']],
  ['GET', '/ten', range('bytes=10-'), 416, undefined, ['GET', 'HEAD']],
  ['GET', '/empty', {}, 200, '', ['GET', 'HEAD']],
  ['GET', '/full', {}, 200, 'x'.repeat(20), ['GET']],
  ['GET', '/large', {}, 302, '', ['GET']],
  ['GET', '/large', range('bytes=0-20'), 302, '', ['GET']],
  ['GET', '/large', range('bytes=0-19'), 206, 'x'.repeat(20), ['GET']],
  ['HEAD', '/large', {}, 200, '', ['HEAD']],
  ['GET', '/ten', { 'If-None-Match': '*' }, 304, '', ['HEAD']],
  ['GET', '/ten', { ...range('bytes=99-'), 'If-None-Match': '*' }, 304, '', ['HEAD']],
  ['GET', '/ten', { ...range('bytes=99-'), 'If-Range': '"other"' }, 200, '0123456789', ['HEAD', 'GET']],
  ['GET', '/ten', { 'If-None-Match': '"other"' }, 200, '0123456789', ['HEAD', 'GET']],
  ['GET', '/ten', { ...range('bytes=2-3'), 'If-Range': '"other"' }, 200, '0123456789', ['HEAD', 'GET']],
  ['HEAD', '/ten', {}, 200, '', ['HEAD']],
  ['GET', '/none', {}, 404, undefined, ['GET', 'GET', 'GET']],
] as const)('%s %s %o answers %i after these calls to S3', async (method, path, headers, status, body, calls) => {
  const before = s3.requests.length
  const answer = await storage.call(method, path, { headers })
  expect([answer.status, body === undefined || answer.text]).toEqual([status, body ?? true])
  expect(s3.requests.slice(before).map((request) => request.method)).toEqual(calls)
})

it.each([
  ['?versionId', (versionId: string) => storage.get('/ten', { versionId })],
  ['a condition', () => storage.call('GET', '/ten', { headers: { 'If-None-Match': '"other"' } })],
])('A read with %s gets 503 if the version is deleted before its bytes are read', async (_, read) => {
  const { bucket: Bucket, connect } = opened
  const key = `live/${storage.site}/ten`
  const { versionId: VersionId = '' } = await infoOf(storage.stores.files, key)
  s3.before = async ({ method }) => {
    if (method === 'GET') await connect().send(new DeleteObjectCommand({ Bucket, Key: key, VersionId }))
  }
  expect(await read(VersionId)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
})

it('A file that is too large for an answer gets a URL that expires soon (S-110)', async () => {
  const { headers } = await storage.get('/large')
  expect(headers).toMatchObject({ 'cache-control': 'no-store', vary: 'Accept' })
  expect(headers['location']).toMatch(/^http:\/\/bucket\/.*large$/)
})

const linkWith = (credentials: NonNullable<S3ClientConfig['credentials']>) => {
  const client = new S3Client({ region: 'local', endpoint: 'http://s3.test', credentials })
  return downloadLink({ client, name: 'memory' }, { key: 'live/1001/a.txt' })
}

const linkUntil = (expiration: Date) =>
  linkWith(async () => ({ accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c', expiration }))

it('A link is unavailable while its credentials cannot be read (E-16)', async () => {
  await expect(linkWith(() => Promise.reject(new Error('lost')))).rejects.toMatchObject({ code: 100503 })
})

it('A link expires after five minutes, or with its credentials (S-69, S-73)', async () => {
  const soon = new Date(Date.now() + 60_000)
  expect((await linkUntil(soon)).expires).toBe(soon.getTime())
  const { url, expires } = await linkUntil(new Date(Date.now() + 3_600_000))
  const { searchParams } = new URL(url)
  const date = searchParams.get('X-Amz-Date') ?? ''
  const signedAt = date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  expect(expires).toBe(Date.parse(signedAt) + 300_000)
  expect(searchParams.get('X-Amz-Expires')).toBe('300')
})

describe('A bucket that KMS encrypts', () => {
  const files = openObjectStore(openBucketInMemory({ encryptsWithKms: true }), { hasOwnKey: true })

  it('The fingerprint of a file comes from its bytes, and lists have none (S-84)', async () => {
    for (const body of [Buffer.alloc(0), Buffer.from('hello'), Buffer.alloc(partLength + 5, 'x')]) {
      await putObject(files, 'key', body)
      expect(await files.fingerprintOf(await infoOf(files, 'key'), unlimited)).toBe(fingerprintOf(body))
      const { objects } = await files.list({ prefix: 'key', folded: false, after: undefined, limit: 10 })
      expect(objects).toMatchObject([{ key: 'key', size: body.length, fingerprint: null }])
    }
  })

  it('A file has no fingerprint without time, or without the version (S-84)', async () => {
    await putObject(files, 'key', 'hello')
    const info = await infoOf(files, 'key')
    const over = createDeadline(() => 2_000)
    expect(await files.fingerprintOf(info, over)).toBeNull()
    await putObject(files, 'other', 'hello')
    const { versionId = '' } = await infoOf(files, 'other')
    expect(await files.fingerprintOf({ ...info, versionId }, unlimited)).toBeNull()
  })
})
