import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { callsToTry } from '../../support/each-call.ts'
import { contentIn } from '../../support/objects.ts'
import { functionTime, inFunctionTime, latestAnswer, slowDown, step } from './function-time.ts'
import { isCopy, openS3Bench, type S3Bench } from './s3-bench.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

let bench: S3Bench
let storage: StorageUnderTest

beforeEach(async () => {
  bench = openS3Bench()
  storage = await openStorage({ between: () => ({ files: bench.store }) })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => void vi.useRealTimers())

type Ask = (remaining: () => number) => Promise<{ readonly status: number }>

const asks: readonly (readonly [string, Ask])[] = [
  ['PUT', (remaining) => storage.call('PUT', '/f/page.html', { body: 'late', remaining })],
  ['POST', (remaining) => storage.post('/f', [{ name: 'page.html', content: 'late' }], { remaining })],
  ['a new folder', (remaining) => storage.call('PUT', '/g', { query: { type: 'folder' }, remaining })],
  ['a rename', (remaining) => storage.rename('/f/page.html', 'other.html', { remaining })],
  ['DELETE', (remaining) => storage.remove('/f/page.html', { remaining })],
]

it.each(asks)('A slow call answers 503, and replaces no newer file: %s', { timeout: 60_000 }, async (_, ask) => {
  const counting = slowDown(bench.s3, 0, 'waits before its request')
  await storage.put('/f/page.html', 'old')
  const first = counting.calls()
  expect((await ask(() => functionTime)).status).toBe(200)
  const calls = counting.calls() - first
  await counting.release()
  for (const number of callsToTry(calls)) {
    await storage.put('/f/page.html', 'old')
    for (const name of ['/g', '/f/other.html']) await storage.remove(name)
    const slow = slowDown(bench.s3, number, 'waits before its request')
    // Lambda ends an operation that only reads, and answers.
    const ended = new Promise<{ status: number }>((end) => setTimeout(() => end({ status: 503 }), latestAnswer))
    const { result, elapsed } = await inFunctionTime(({ timeLeft }) => Promise.race([ask(timeLeft), ended]))
    expect({ number, status: result.status }).toEqual({ number, status: 503 })
    expect(elapsed).toBeLessThanOrEqual(latestAnswer + 2 * step)
    bench.s3.before = async () => undefined
    expect((await storage.put('/f/page.html', 'newer')).status).toBe(200)
    await slow.release()
    expect(await contentIn(bench.store, 'live/1001/f/page.html')).toBe('newer')
  }
})

const mebibyte = 1024 * 1024
const part = 8 * mebibyte
const parts = 640
const Bucket = 'memory'
/** The parts of the file share their bytes in memory. */
const putLargest = async (Key: string) => {
  const { client } = bench.clients
  await client.send(new PutObjectCommand({ Bucket, Key: 'scratch/part', Body: Buffer.alloc(part) }))
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ContentType: 'image/png' }))
  const upload = { Bucket, Key, UploadId, CopySource: 'memory/scratch/part' }
  const Parts = Array.from({ length: parts }, (_, index) => ({ PartNumber: index + 1, ETag: '' }))
  for (const one of Parts) {
    const { CopyPartResult } = await client.send(
      new UploadPartCopyCommand({ ...upload, ...one, CopySourceRange: `bytes=0-${part - 1}` }),
    )
    one.ETag = CopyPartResult?.ETag ?? ''
  }
  await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }))
}

/** S3 copies as fast as one connection. `meanwhile` runs while the last bytes are copied. */
const slowCopies = (meanwhile: () => Promise<unknown> = async () => undefined) => {
  bench.s3.before = async (request) => {
    if (!isCopy(request)) return
    const [, first = 0, last = parts * part - 1] =
      /^bytes=(\d+)-(\d+)$/.exec(request.headers['x-amz-copy-source-range'] ?? '') ?? []
    const milliseconds = (1_000 * (Number(last) + 1 - Number(first))) / (200 * mebibyte)
    await new Promise((resolve) => setTimeout(resolve, milliseconds))
    if (Number(last) === parts * part - 1) await meanwhile()
  }
}

it('One request renames, moves, copies or restores the file (S-130)', async () => {
  const first = `live/${storage.site}/a.png`
  await putLargest(first)
  const before = await bench.store.find(first)
  slowCopies()
  const asks: readonly (readonly [string, Ask])[] = [
    ['b.png', (remaining) => storage.rename('/a.png', 'b.png', { remaining })],
    ['f/c.png', (remaining) => storage.relocate('/b.png', { path: 'f/c.png' }, { remaining })],
    ['d.png', (remaining) => storage.relocate('/f/c.png', { copyTo: 'd.png' }, { remaining })],
    ['a.png', (remaining) => storage.restore('/a.png', {}, { remaining })],
    ['a.png', (remaining) => storage.restore('/a.png', { version: before?.versionId, replace: true }, { remaining })],
  ]
  for (const [name, ask] of asks) {
    if (ask === asks.at(-1)?.[1]) await storage.put('/a.png', 'newer')
    const { result, elapsed } = await inFunctionTime(({ timeLeft }) => ask(timeLeft))
    expect({ name, status: result.status }).toEqual({ name, status: 200 })
    expect(elapsed).toBeLessThan(latestAnswer)
    expect(await bench.store.find(`live/${storage.site}/${name}`)).toMatchObject({
      size: parts * part,
      contentType: 'image/png',
      fingerprint: before?.fingerprint,
    })
  }
}, 60_000)

it.each([
  ['move', '/f/b.png', { path: 'f/b.png' }],
  ['copy', '/b.png', { copyTo: 'b.png' }],
])(
  'A %s of 5 GiB never replaces a newer file (S-60, S-65, S-130)',
  async (_, target, body) => {
    await putLargest(`live/${storage.site}/a.png`)
    const headers = { 'If-Match': await storage.tagOf('/a.png') }
    const ask: Ask = (remaining) => storage.relocate('/a.png', body, { headers, remaining })
    const newer = [
      { path: target, status: 400 },
      { path: '/a.png', status: 412 },
    ]
    for (const { path, status } of newer) {
      slowCopies(() => storage.put(path, 'newer'))
      const { result } = await inFunctionTime(({ timeLeft }) => ask(timeLeft))
      const found = await bench.store.find(`live/${storage.site}${path}`)
      expect({ path, status: result.status, size: found?.size }).toEqual({ path, status, size: 'newer'.length })
      await storage.remove(target)
    }
  },
  60_000,
)
