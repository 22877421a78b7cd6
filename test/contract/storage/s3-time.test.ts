import { setImmediate as turn } from 'node:timers/promises'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { failLikePort } from '../../../lib/aws/calls/client-calls.ts'
import { createDeadline, type Deadline } from '../../../lib/core/deadline.ts'
import type { Change, ObjectStore } from '../../../lib/storage/object-store.ts'
import { openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import { callsToTry } from '../../support/each-call.ts'
import { entry } from '../../support/history.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'
import { contentIn, nowhere, putObject, stageObject } from '../../support/objects.ts'
import type { S3Request } from '../../support/s3-messages.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

/** In milliseconds: the time limit of a function, and the remaining time at which Lambda freezes the function. */
const functionTime = 28_000
const frozenAt = 500
/** In milliseconds: the time by which each turn of the event loop advances the clock. */
const step = 40

let s3: MemoryS3
let store: ObjectStore
let others: ObjectStore
let client: S3Client
let open: (largestCopy?: number) => ObjectStore

beforeEach(() => {
  const opened = openBucketInMemory()
  s3 = opened.s3
  client = opened.connect()
  open = (largestCopy) => {
    const [client, once] = [opened.connect(), opened.connect(1)]
    failLikePort(client)
    failLikePort(once)
    return openObjectStore(opened, { client, once, memory: 1_000, largestCopy })
  }
  store = open()
  others = open()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Runs a call with the time limit of a function. Each turn of the event loop advances the clock. */
const inFunctionTime = async <Result>(run: (deadline: Deadline) => Promise<Result>) => {
  let elapsed = 0
  let isOver = false
  const running = run(createDeadline(() => functionTime - elapsed)).finally(() => {
    isOver = true
  })
  running.catch(() => {})
  for (; !isOver; elapsed += step) {
    await turn()
    vi.advanceTimersByTime(step)
  }
  return { result: await running, elapsed }
}

/** The ways in which a call is slow: its request waits, its answer waits, or its request arrives after it was cut. */
const slownesses = ['request', 'answer', 'arrival'] as const
type Slowness = (typeof slownesses)[number]

/**
 * Makes one call slow. The first call has the number 1. `calls` counts all calls, and `release` lets the slow call
 * continue.
 */
const slowDown = (number: number, slowness: Slowness) => {
  let calls = 0
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const handle = (request: S3Request) => s3.requestHandler.handle(request)
  s3.before = async (request) => {
    calls += 1
    if (calls !== number) return
    if (slowness === 'answer') await handle(request)
    // The call is cut after 23 or 24 seconds.
    if (slowness === 'arrival') setTimeout(() => void handle(request), 24_500)
    await held
  }
  return {
    calls: () => calls,
    async release() {
      s3.before = async () => undefined
      release()
      for (let count = 0; count < 50; count++) await turn()
    },
  }
}

const free = { ...nowhere, absent: ['live/1/f', 'live/1/f/page.html/'] }
const put = (by: ObjectStore, key: string, text: string) => putObject(by, key, text, free)

const page = 'live/1/f/page.html'
const draft = 'draft/1/f/page.html'
const moved = 'live/1/f/moved'
const copy = 'live/1/f/copy'

/** The contents of a page, its draft, a file and their new paths. */
const state = async () => [
  await contentIn(others, page),
  await contentIn(others, draft),
  await contentIn(others, moved),
  await contentIn(others, `${moved}-away`),
  await contentIn(others, copy),
]
const before = ['old', 'draft', 'moved', undefined, undefined]

/** Publishes a page into a new folder and moves a file, in one change. */
const publication = async (text: string): Promise<Change[]> => {
  const from = await others.find(moved)
  const staged = await stageObject(store, page, text)
  return [
    { kind: 'folder', key: 'live/1/f/' },
    { kind: 'put', key: page, staged },
    { kind: 'remove', key: draft },
    ...(from ? [{ kind: 'move', from, key: `${moved}-away` } as const] : []),
  ]
}

const prepare = async () => {
  await put(others, page, 'old')
  await put(others, draft, 'draft')
  await put(others, moved, 'moved')
}

const copying = async (): Promise<Change[]> => {
  const from = await others.find(page)
  return from ? [{ kind: 'copy', from, key: copy }] : []
}

const callsOf = async (make: () => Promise<Change[]>): Promise<number> => {
  await prepare()
  const changes = await make()
  const slow = slowDown(0, 'request')
  expect(await store.place(changes, free, entry)).toEqual({ outcome: 'placed' })
  await slow.release()
  return slow.calls()
}

describe.each([
  ['a small file', () => publication('new')],
  ['a large file', () => publication('n'.repeat(2_000))],
  ['a copy', copying],
  ['a copy in parts', copying],
])('Storing %s while one call is slow', (what, make) => {
  it.each(slownesses)(
    'The request ends in time, is undone, and does not replace a newer file later (%s)',
    async (slowness) => {
      if (what === 'a copy in parts') store = open(0)
      const calls = await callsOf(make)
      for (const number of callsToTry(calls)) {
        s3.before = async () => undefined
        for (const key of ['live/1/f/', page, draft, moved, `${moved}-away`, copy]) {
          const info = await others.find(key)
          if (info) await others.remove([info], entry)
        }
        await prepare()
        const changes = await make()
        const slow = slowDown(number, slowness)
        const { result, elapsed } = await inFunctionTime((deadline) =>
          store.place(changes, { ...free, deadline }, entry).catch((error: unknown) => error),
        )
        expect({ number, result }).toEqual({ number, result: { outcome: 'late' } })
        expect(elapsed).toBeLessThan(functionTime - frozenAt)
        const during = s3.requests.length
        await slow.release()
        expect({ number, state: await state() }).toEqual({ number, state: before })
        await put(others, page, 'newer')
        vi.advanceTimersByTime(10_000)
        expect(await contentIn(others, page)).toBe('newer')
        expect(s3.requests.slice(during).filter(({ method }) => method === 'DELETE')).toEqual([])
      }
    },
    60_000,
  )
})

type Ask = (remaining: () => number) => Promise<{ readonly status: number }>

describe('A request that makes a slow call to S3', () => {
  let storage: StorageUnderTest
  beforeEach(async () => {
    storage = await openStorage({ between: () => ({ files: store }) })
  })
  afterEach(() => storage.close())

  const asks: readonly (readonly [string, Ask])[] = [
    ['PUT', (remaining) => storage.call('PUT', '/f/page.html', { body: 'late', remaining })],
    ['POST', (remaining) => storage.post('/f', [{ name: 'page.html', content: 'late' }], { remaining })],
    ['a new folder', (remaining) => storage.call('PUT', '/g', { query: { type: 'folder' }, remaining })],
    ['a rename', (remaining) => storage.rename('/f/page.html', 'other.html', { remaining })],
    ['DELETE', (remaining) => storage.remove('/f/page.html', { remaining })],
  ]

  it.each(asks)(
    'The request answers 503 in time, and does not replace a newer file later: %s',
    async (_, ask) => {
      const counting = slowDown(0, 'request')
      await storage.put('/f/page.html', 'old')
      const first = counting.calls()
      expect((await ask(() => functionTime)).status).toBe(200)
      const calls = counting.calls() - first
      await counting.release()
      for (const number of callsToTry(calls)) {
        await storage.put('/f/page.html', 'old')
        for (const name of ['/g', '/f/other.html']) await storage.remove(name)
        const slow = slowDown(number, 'request')
        let answer: { readonly status: number } | undefined
        const { elapsed } = await inFunctionTime(async ({ timeLeft }) => {
          // Lambda ends an operation that only reads, and answers.
          answer = await Promise.race([
            ask(timeLeft),
            new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), functionTime - frozenAt)),
          ])
        })
        expect({ number, status: answer?.status ?? 503 }).toEqual({ number, status: 503 })
        expect(elapsed).toBeLessThanOrEqual(functionTime - frozenAt + 2 * step)
        s3.before = async () => undefined
        expect((await storage.put('/f/page.html', 'newer')).status).toBe(200)
        await slow.release()
        expect(await contentIn(others, 'live/1001/f/page.html')).toBe('newer')
      }
    },
    60_000,
  )
})

describe('A file of 5 GiB on a connection of 200 MiB per second', () => {
  const mebibyte = 1024 * 1024
  const part = 8 * mebibyte
  const parts = 640
  const Bucket = 'memory'
  let storage: StorageUnderTest
  beforeEach(async () => {
    storage = await openStorage({ between: () => ({ files: store }) })
  })
  afterEach(() => storage.close())

  /** The parts of the file share their bytes in memory. */
  const putLargest = async (Key: string) => {
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

  /** S3 copies as fast as one connection. */
  const slowCopies = () => {
    s3.before = async ({ headers }) => {
      if (headers['x-amz-copy-source'] === undefined) return
      const [, first = 0, last = parts * part - 1] =
        /^bytes=(\d+)-(\d+)$/.exec(headers['x-amz-copy-source-range'] ?? '') ?? []
      const milliseconds = (1_000 * (Number(last) + 1 - Number(first))) / (200 * mebibyte)
      await new Promise((resolve) => setTimeout(resolve, milliseconds))
    }
  }

  it('One request renames, moves, copies or restores the file (S-130)', async () => {
    const first = `live/${storage.site}/a.png`
    await putLargest(first)
    const before = await others.find(first)
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
      let answer: { readonly status: number } | undefined
      const { elapsed } = await inFunctionTime(async ({ timeLeft }) => {
        answer = await ask(timeLeft)
      })
      expect({ name, status: answer?.status }).toEqual({ name, status: 200 })
      expect(elapsed).toBeLessThan(functionTime - frozenAt)
      const { size, contentType, fingerprint } = (await others.find(`live/${storage.site}/${name}`)) ?? {}
      expect({ size, contentType, fingerprint }).toEqual({
        size: parts * part,
        contentType: 'image/png',
        fingerprint: before?.fingerprint,
      })
    }
  }, 60_000)
})
