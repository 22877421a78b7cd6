import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../lib/core/clock.ts'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { codeOf } from '../../support/answer.ts'
import { openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import { createGate } from '../../support/gate.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'
import { openStorageOnAws } from './hands.ts'
import { holdAt, isBatch } from './s3-bench.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

describe('A folder that is being restored on S3', () => {
  let s3: MemoryS3
  let storage: StorageUnderTest
  const later = () => vi.setSystemTime(Date.now() + 120_000)
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) })
    const bucket = openBucketInMemory()
    s3 = bucket.s3
    storage = await openStorageOnAws({ bucket, clock: { ...systemClock, wall: Date.now } })
    for (const name of ['a', 'b', 'c']) await storage.put(`/folder/${name}.txt`)
    expect((await storage.remove('/folder')).status).toBe(200)
    later()
  })
  afterEach(async () => {
    vi.useRealTimers()
    await storage.close()
  })

  const readAll = () =>
    Promise.all(['a', 'b', 'c'].map(async (name) => (await storage.get(`/folder/${name}.txt`)).status))
  const all = [200, 200, 200]

  it('Every other change is refused with 104010 until the restore ends (H-25, H-32)', async () => {
    const { put, post, remove, restore, call } = storage
    const beforeMarkersAreRemoved = holdAt(s3, isBatch)
    const restoring = restore('/folder')
    await beforeMarkersAreRemoved.reached
    const changes = [
      ...['/folder/new.txt', '/folder/a.txt', '/folder/below/new.txt'].map((path) => put(path)),
      post('/folder', [{ name: 'new.txt', content: 'x' }]),
      remove('/folder'),
      ...['/folder', '/folder/a.txt'].map((path) => restore(path)),
      call('DELETE', '/folder/a.txt', { query: { versions: '' } }),
    ]
    expect((await Promise.all(changes)).map(codeOf)).toEqual(changes.map(() => 104010))
    expect((await put('/beside.txt')).status).toBe(200)
    beforeMarkersAreRemoved.open()
    expect((await restoring).status).toBe(200)
    expect(await readAll()).toEqual(all)
    expect((await put('/folder/new.txt')).status).toBe(200)
    expect((await remove('/folder')).status).toBe(200)
  })

  it('An upload that began before the restore is undone', async () => {
    const { pass, reached, open } = createGate()
    s3.before = async ({ method, path }) => {
      if (method === 'PUT' && path.includes('/folder/')) await pass()
    }
    const uploading = storage.put('/folder/late.txt')
    await reached
    expect((await storage.restore('/folder')).status).toBe(200)
    open()
    expect(codeOf(await uploading)).toBe(104010)
    expect((await storage.get('/folder/late.txt')).status).toBe(404)
    expect(await readAll()).toEqual(all)
  })

  it('A restore that runs out of time restores nothing, and may be repeated', async () => {
    let remaining = 60_000
    s3.before = async (request) => {
      if (isBatch(request)) remaining = 0
    }
    const answer = await storage.restore('/folder', {}, { remaining: () => remaining })
    expect(answer.status).toBe(503)
    s3.before = async () => undefined
    later()
    expect((await storage.restore('/folder')).status).toBe(200)
    expect(await readAll()).toEqual(all)
  })
})

it.each([
  ['on one machine', (files: ObjectStore) => files],
  ['in S3', () => openObjectStore(openBucketInMemory())],
])('A restore while its file is being removed restores no older version: %s (H-24)', async (_, storeOf) => {
  let removal: (() => Promise<unknown>) | undefined
  const storage = await openStorage({
    between: ({ files: own }) => {
      const files = storeOf(own)
      const versions: ObjectStore['versions'] = async (...query) => {
        const found = await files.versions(...query)
        await removal?.()
        removal = undefined
        return found
      }
      return { files: { ...files, versions } }
    },
  })
  onTestFinished(() => storage.close())
  for (const text of ['older', 'newer']) await storage.put('/a', text)
  removal = () => storage.remove('/a')
  expect(codeOf(await storage.restore('/a'))).toBe(104022)
  expect((await storage.restore('/a')).status).toBe(200)
  expect(await storage.textOf('/a')).toBe('newer')
})
