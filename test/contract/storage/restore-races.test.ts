import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../lib/core/clock.ts'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { codeOf } from '../../support/answer.ts'
import { openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'
import { openStorageOnAws } from './hands.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

describe('A folder that is being restored on S3', () => {
  let s3: MemoryS3
  let storage: StorageUnderTest
  const later = () => vi.setSystemTime(Date.now() + 10_000)
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

  const read = async (path: string) => (await storage.get(path)).status
  const names = ['a', 'b', 'c']
  const readAll = () => Promise.all(names.map((name) => read(`/folder/${name}.txt`)))
  const all = [200, 200, 200]

  /** A restore that waits before it removes the delete markers, until `goOn`. */
  const restoreInSteps = async () => {
    const reached = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    s3.before = async ({ query = {} }) => {
      if (query['delete'] === undefined) return
      reached.resolve()
      await gate.promise
    }
    const restoring = storage.restore('/folder')
    await reached.promise
    return { restoring, goOn: gate.resolve }
  }

  it('Uploads are refused until the restore ends, and all files are restored (H-25)', async () => {
    const { restoring, goOn } = await restoreInSteps()
    for (const path of ['/folder/new.txt', '/folder/a.txt', '/folder/below/new.txt']) {
      expect(codeOf(await storage.put(path))).toBe(104010)
    }
    expect(codeOf(await storage.post('/folder', [{ name: 'new.txt', content: 'x' }]))).toBe(104010)
    expect((await storage.put('/beside.txt')).status).toBe(200)
    goOn()
    expect((await restoring).status).toBe(200)
    expect(await readAll()).toEqual(all)
    expect((await storage.put('/folder/new.txt')).status).toBe(200)
  })

  it('A removal and another restore are refused until the restore ends (H-25)', async () => {
    const { restoring, goOn } = await restoreInSteps()
    expect(codeOf(await storage.remove('/folder'))).toBe(104010)
    expect(codeOf(await storage.restore('/folder'))).toBe(104010)
    expect(codeOf(await storage.restore('/folder/a.txt'))).toBe(104010)
    goOn()
    expect((await restoring).status).toBe(200)
    expect((await storage.remove('/folder')).status).toBe(200)
  })

  it('An upload that began before the restore is undone', async () => {
    const reached = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    s3.before = async ({ method, path }) => {
      if (method !== 'PUT' || !path.includes('/folder/')) return
      reached.resolve()
      await gate.promise
    }
    const uploading = storage.put('/folder/late.txt')
    await reached.promise
    const restored = await storage.restore('/folder')
    gate.resolve()
    const uploaded = await uploading
    expect([restored.status, codeOf(uploaded)]).toEqual([200, 104010])
    expect(await read('/folder/late.txt')).toBe(404)
    expect(await read('/folder/a.txt')).toBe(200)
  })

  it('A restore that runs out of time restores nothing, and may be repeated', async () => {
    let remaining = 60_000
    s3.before = async ({ query = {} }) => {
      if (query['delete'] !== undefined) remaining = 0
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
