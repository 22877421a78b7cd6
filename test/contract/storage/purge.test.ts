import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../lib/core/time.ts'
import { partLength } from '../../../lib/storage/content.ts'
import type { ObjectVersion } from '../../../lib/storage/object-store.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { codeOf } from '../../support/answer.ts'
import { openBucketInMemory, openObjectStore, type TestBucket } from '../../support/bucket.ts'
import { callsToTry } from '../../support/each-call.ts'
import { entry } from '../../support/history.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'
import { failCompletions, uploadIn } from '../uploads/service.ts'
import { createFault } from './failing-stores.ts'
import { openStorageOnAws, storageHands } from './hands.ts'
import { interruptChanges } from './interruption.ts'
import { atFirst, holdAt, isBatch, type Matcher } from './s3-bench.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

const minute = 60_000
const later = (milliseconds = 2 * minute) => vi.setSystemTime(Date.now() + milliseconds)
const clock = { ...systemClock, wall: () => Date.now() }

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) }))
afterEach(() => void vi.useRealTimers())

const purge = ({ call }: StorageUnderTest, path: string, request: Parameters<typeof call>[2] = {}) =>
  call('DELETE', path, { query: { versions: '' }, ...request })

type Versions = readonly { readonly version: string; readonly size: number }[]
const versionsOf = async ({ get }: StorageUnderTest, path: string): Promise<Versions> =>
  (await get(path, { versions: '' })).json.versions ?? []
const sizesOf = async (storage: StorageUnderTest, path: string) =>
  (await versionsOf(storage, path)).map(({ size }) => size)

const countsOf = async ({ deps, site }: StorageUnderTest) =>
  (await deps.history.after(site, 0, 100))
    .filter(({ type }) => type === 'file.purged')
    .map(({ details }) => details?.['count'])

describe.each(storageHands)('A purge on $name', ({ open }) => {
  const opened = () => open({ clock })

  it('A purge in a folder that is being removed is refused with 104010 (H-32, E-38)', async () => {
    const storage = await opened()
    for (const text of ['1', '22']) await storage.put('/f/a', text)
    later()
    await storage.deps.removals.open(storage.site, toStoragePath('f'), 'removal', entry)
    expect(codeOf(await purge(storage, '/f/a'))).toBe(104010)
    expect(await sizesOf(storage, '/f/a')).toEqual([2, 1])
  })

  it('A purge answers no 200 if another purges a version that it lists (H-30, H-34)', async () => {
    const storage = await opened()
    const { files } = storage.deps
    const { versions } = files
    for (const text of ['1', '22', '333', '4444', '55555']) await storage.put('/f/a', text)
    later()
    let isFirst = true
    vi.spyOn(files, 'versions').mockImplementation(async (key, query) => {
      const versionId = isFirst && query.after
      if (versionId) {
        isFirst = false
        await purge(storage, '/f/a', { query: { versionId } })
      }
      return versions(key, { ...query, limit: 2 })
    })
    expect((await purge(storage, '/f/a')).status).toBe(503)
    expect((await purge(storage, '/f/a')).status).toBe(200)
    expect(await sizesOf(storage, '/f/a')).toEqual([5])
  })

  it.each(['replaced', 'removed'])('A restore whose version was purged answers 104001: %s (H-36)', async (how) => {
    const storage = await opened()
    const { removals } = storage.deps
    const { lock } = removals
    for (const text of ['1', '22', '333']) await storage.put('/a', text)
    if (how === 'removed') await storage.remove('/a')
    later()
    const [first, second] = await versionsOf(storage, '/a')
    const version = how === 'removed' ? first?.version : second?.version
    vi.spyOn(removals, 'lock').mockImplementationOnce(async (...given) => {
      await purge(storage, '/a')
      return lock(...given)
    })
    expect(codeOf(await storage.restore('/a', { version, replace: true }))).toBe(104001)
    expect(await storage.read('/a')).toBe(how === 'removed' ? 404 : '333')
  })

  it('A purge keeps the version of its If-Match, even if replaced (H-30, H-32)', async () => {
    const storage = await opened()
    const others = interruptChanges(storage.deps.files)
    for (const text of ['1', '22']) await storage.put('/a', text)
    later()
    const headers = { 'If-Match': await storage.tagOf('/a') }
    others.once(() => storage.put('/a', '333'))
    expect((await purge(storage, '/a', { headers })).status).toBe(200)
    expect(await sizesOf(storage, '/a')).toEqual([3, 2])
  })

  it('A restored folder leaves out a file that was removed before it (H-21)', async () => {
    const storage = await opened()
    await storage.put('/f/a')
    await storage.remove('/f/a')
    later()
    for (const path of ['/f/a', '/f/b']) await storage.put(path)
    await storage.remove('/f')
    later()
    const [newest] = await versionsOf(storage, '/f/a')
    expect((await purge(storage, '/f/a', { query: { versionId: newest?.version ?? '' } })).status).toBe(200)
    expect((await storage.restore('/f')).status).toBe(200)
    expect([await storage.read('/f/a'), await storage.read('/f/b')]).toEqual([404, '/f/b'])
  })

  it('A purge whose call to the store fails deletes nothing, and a repetition succeeds', async () => {
    const fault = createFault()
    const storage = await open({ clock, between: fault.between })
    const fill = async (path: string) => {
      for (const text of ['1', '22']) await storage.put(path, text)
      await storage.remove(path)
      later()
    }
    await fill('/measured')
    fault.arm(0)
    expect((await purge(storage, '/measured')).status).toBe(200)
    const { calls } = fault
    for (const number of callsToTry(calls - 1)) {
      fault.arm(0)
      await fill(`/${number}`)
      fault.arm(number)
      expect((await purge(storage, `/${number}`)).status).toBe(503)
      fault.arm(0)
      expect(await sizesOf(storage, `/${number}`)).toEqual([2, 1])
      later()
      expect((await purge(storage, `/${number}`)).status).toBe(200)
    }
  })
})

it.each([
  ['a file of it is purged', (storage: StorageUnderTest) => purge(storage, '/above/f/a'), 404],
  ['the folder above it is removed', ({ remove }: StorageUnderTest) => remove('/above'), '/above/f/a'],
] as const)('On one machine, a folder is restored although %s (H-21, H-36)', async (_, act, left) => {
  const storage = await openStorage({ clock })
  const others = interruptChanges(storage.deps.files)
  for (const name of ['a', 'b']) await storage.put(`/above/f/${name}`)
  await storage.remove('/above/f')
  others.once(async () => expect((await act(storage)).status).toBe(200))
  expect((await storage.restore('/above/f')).status).toBe(200)
  expect([await storage.read('/above/f/a'), await storage.read('/above/f/b')]).toEqual([left, '/above/f/b'])
})

it('More than 10,000 versions are purged by several requests (H-34)', async () => {
  const kept = Array.from({ length: 12_000 }, (_, index): ObjectVersion => {
    return { id: `v${index}`, at: 0, size: 1, isCurrent: false, isRemoved: false }
  })
  const storage = await openStorage()
  const { files } = storage.deps
  vi.spyOn(files, 'versions').mockImplementation(async (key, { after, limit }) => {
    if (key.startsWith('draft/')) return { versions: [], next: undefined }
    const start = kept.findIndex(({ id }) => id === after) + 1
    const page = kept.slice(start, start + limit)
    return { versions: page, next: start + limit < kept.length ? page.at(-1)?.id : undefined }
  })
  vi.spyOn(files, 'purge').mockImplementation(async (purged) => {
    kept.splice(0, purged.length)
    return 0
  })
  expect((await purge(storage, '/a.html', { query: { versionId: 'v11999' } })).status).toBe(200)
  const first = await purge(storage, '/a.html')
  expect([first.status, first.headers['retry-after'], first.json.code]).toEqual([503, '1', 100503])
  expect(kept).toHaveLength(1_999)
  expect((await purge(storage, '/a.html')).status).toBe(200)
  expect(kept).toEqual([])
})

describe('A purge on S3', () => {
  let bucket: TestBucket & { readonly s3: MemoryS3 }
  let s3: MemoryS3
  let storage: StorageUnderTest
  beforeEach(async () => {
    bucket = openBucketInMemory()
    s3 = bucket.s3
    storage = await openStorageOnAws({ bucket, clock })
  })

  const isDeletion: Matcher = (request) => isBatch(request) || request.query?.['x-id'] === 'DeleteObject'

  it('A file is restored if its replacement is undone during a purge (H-35)', async () => {
    await storage.put('/page.html', 'old')
    await storage.put('/page.html', 'draft', { version: 'draft' })
    later()
    let purged: Awaited<ReturnType<typeof purge>> | undefined
    const removesDraft: Matcher = ({ method, path }) => method === 'DELETE' && path.includes('/draft/')
    atFirst(s3, removesDraft, async () => {
      purged = await purge(storage, '/page.html')
      throw new Error('The connection broke')
    })
    expect((await storage.put('/page.html', 'new')).status).toBe(500)
    expect([purged?.status, purged?.headers['retry-after']]).toEqual([503, '62'])
    expect(await storage.read('/page.html')).toBe('old')
  })

  it('A version can be purged after a minute, one in parts after 15 (H-35)', async () => {
    for (const text of ['1', '22']) await storage.put('/a', text)
    expect((await purge(storage, '/a')).status).toBe(503)
    later(61_000)
    expect((await purge(storage, '/a')).headers['retry-after']).toBe('1')
    later(1_000)
    expect((await purge(storage, '/a')).status).toBe(200)
    const files = openObjectStore(bucket, { memory: 9 })
    const parts = await openStorageOnAws({ bucket, clock, between: () => ({ files }) })
    expect((await parts.put('/a', 'x'.repeat(20))).status).toBe(200)
    later(15 * minute)
    expect((await purge(storage, '/a')).status).toBe(503)
    later()
    expect((await purge(storage, '/a')).status).toBe(200)
    expect(await sizesOf(storage, '/a')).toEqual([20])
    expect(await countsOf(storage)).toEqual([1, 1])
  })

  it('During the restore of a removed file, its versions cannot be purged (H-36)', async () => {
    for (const text of ['older', 'newest']) await storage.put('/a', text)
    await storage.remove('/a')
    later()
    const [newest] = await versionsOf(storage, '/a')
    const { reached, open } = holdAt(s3, isDeletion)
    const restoring = storage.restore('/a')
    await reached
    expect(codeOf(await purge(storage, '/a', { query: { versionId: newest?.version ?? '' } }))).toBe(104010)
    open()
    expect((await restoring).status).toBe(200)
    expect(await storage.read('/a')).toBe('newest')
  })

  it('During a purge, a removed file and its folders cannot be restored (H-36)', async () => {
    for (const text of ['1', '22']) await storage.put('/f/a', text)
    await storage.remove('/f')
    later()
    const { reached, open } = holdAt(s3, isDeletion)
    const purging = purge(storage, '/f/a')
    await reached
    for (const path of ['/f/a', '/f']) expect(codeOf(await storage.restore(path))).toBe(104010)
    expect(codeOf(await storage.put('/f/a', 'new'))).toBe(104010)
    open()
    expect((await purging).status).toBe(200)
    expect((await storage.restore('/f')).status).toBe(200)
    expect(await storage.read('/f/a')).toBe(404)
    expect((await storage.put('/f/a', 'new')).status).toBe(200)
  })

  it('A purge that runs out of time answers 503, and a repetition continues (H-34)', async () => {
    const client = bucket.connect()
    for (let count = 0; count < 1_100; count++) {
      const object = { Bucket: bucket.bucket, Key: `live/${storage.site}/a`, Body: String(count) }
      await client.send(new PutObjectCommand(object))
    }
    later()
    expect((await purge(storage, '/a', { remaining: 900 })).status).toBe(503)
    let remaining = 60_000
    s3.before = async (request) => {
      if (isBatch(request)) remaining = 900
    }
    const first = await purge(storage, '/a', { remaining: () => remaining })
    expect([first.status, first.json.message]).toEqual([503, expect.stringContaining('1000 versions')])
    expect(await storage.read('/a')).toBe('1099')
    expect((await purge(storage, '/a')).status).toBe(200)
    expect(await sizesOf(storage, '/a')).toEqual([4])
    expect(await countsOf(storage)).toEqual([1_000, 99])
  })
})

describe('A purge beside a resumable upload on S3', () => {
  /** The file /a, and a resumable upload to it that began an hour before its last byte. */
  const start = async () => {
    const bucket = openBucketInMemory()
    const storage = await openStorageOnAws({ bucket, clock })
    await storage.put('/a', '1')
    const bytes = 'x'.repeat(partLength)
    const upload = uploadIn(await storage.create('a', partLength + 1))
    expect((await storage.patch(upload, 0, bytes)).status).toBe(204)
    later(60 * minute)
    return { bucket, storage, upload, complete: () => storage.patch(upload, partLength, 'x') }
  }

  it.each([
    ['an upload', [], [partLength + 1, 1]],
    ['an upload and a newer file', ['22'], [2, partLength + 1, 1]],
  ])('A purge keeps the version below %s that may be undone (H-35)', async (_, newer, sizes) => {
    const { storage, upload, complete } = await start()
    failCompletions(storage.deps.uploadRecords, 1)
    expect((await complete()).status).toBe(503)
    for (const text of newer) await storage.put('/a', text)
    const refused = await purge(storage, '/a')
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '62'])
    expect(await sizesOf(storage, '/a')).toEqual(sizes)
    expect((await storage.head(upload)).status).toBe(200)
    later()
    expect((await purge(storage, '/a')).status).toBe(200)
    expect(await sizesOf(storage, '/a')).toEqual(sizes.slice(0, 1))
  })

  it('A purge keeps an upload below a new file, despite a removal before (H-35)', async () => {
    const { storage, complete } = await start()
    await storage.remove('/a')
    later(60 * minute)
    expect((await complete()).status).toBe(204)
    await storage.put('/a', '22')
    expect((await purge(storage, '/a')).status).toBe(503)
    expect(await sizesOf(storage, '/a')).toEqual([2, partLength + 1])
    later()
    expect((await purge(storage, '/a')).status).toBe(200)
    expect(await sizesOf(storage, '/a')).toEqual([2])
  })

  it('A purge keeps the version below an upload that is undone meanwhile (H-35)', async () => {
    const { bucket, storage, complete } = await start()
    expect((await complete()).status).toBe(204)
    const [newest] = await versionsOf(storage, '/a')
    vi.spyOn(storage.deps.uploadRecords, 'get').mockImplementationOnce(async () => {
      const object = { Bucket: bucket.bucket, Key: `live/${storage.site}/a`, VersionId: newest?.version }
      await bucket.connect().send(new DeleteObjectCommand(object))
      return undefined
    })
    expect((await purge(storage, '/a')).status).toBe(503)
    expect(await storage.read('/a')).toBe('1')
  })
})
