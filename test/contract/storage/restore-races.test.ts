import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createPathLocks } from '../../../lib/aws/dynamodb/path-locks.ts'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import { systemClock } from '../../../lib/core/clock.ts'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { codeOf } from '../../support/answer.ts'
import { openBucketInMemory } from '../../support/bucket.ts'
import { entry, unrecorded } from '../../support/history.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'
import { openTestTables } from '../../support/tables.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

describe('while a folder is restored on S3', () => {
  let s3: MemoryS3
  let storage: StorageUnderTest
  let files: ObjectStore
  const later = () => vi.setSystemTime(Date.now() + 10_000)
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) })
    const { bucket, connect, s3: opened } = openBucketInMemory()
    s3 = opened
    const tables = await openTestTables()
    const { workflows, removals } = createPathLocks({
      dynamodb: tables.connect(),
      table: tables.names.pathLocks,
      record: unrecorded,
    })
    const clients = { client: connect(), once: connect(1) }
    files = createS3ObjectStore({ ...clients, bucket, removals, record: unrecorded })
    const under = await openStorage({
      between: () => ({ files, workflows, removals }),
      clock: { ...systemClock, wall: Date.now },
    })
    storage = {
      ...under,
      async close() {
        await under.close()
        await tables.close()
      },
    }
    for (const name of ['a', 'b', 'c']) await storage.put(`/folder/${name}.txt`)
    expect((await storage.remove('/folder')).status).toBe(200)
    later()
  })
  afterEach(async () => {
    vi.useRealTimers()
    await storage.close()
  })

  const read = async (path: string) => (await storage.get(path)).status

  /** A restore that stands still where it takes the markers away, until it is told to go on. */
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

  it('uploads into it are refused, and all of it comes back (H-25)', async () => {
    const { restoring, goOn } = await restoreInSteps()
    for (const path of ['/folder/new.txt', '/folder/a.txt', '/folder/below/new.txt']) {
      expect(codeOf(await storage.put(path))).toBe(104010)
    }
    expect(codeOf(await storage.post('/folder', [{ name: 'new.txt', content: 'x' }]))).toBe(104010)
    expect((await storage.put('/beside.txt')).status).toBe(200)
    goOn()
    expect((await restoring).status).toBe(200)
    expect(await Promise.all(['a', 'b', 'c'].map((name) => read(`/folder/${name}.txt`)))).toEqual([200, 200, 200])
    expect((await storage.put('/folder/new.txt')).status).toBe(200)
  })

  it('it is not removed, nor restored by somebody else', async () => {
    const { restoring, goOn } = await restoreInSteps()
    expect(codeOf(await storage.remove('/folder'))).toBe(104010)
    expect(codeOf(await storage.restore('/folder'))).toBe(104010)
    expect(codeOf(await storage.restore('/folder/a.txt'))).toBe(104010)
    goOn()
    expect((await restoring).status).toBe(200)
    expect((await storage.remove('/folder')).status).toBe(200)
  })

  it('an upload that has looked before it began is taken back', async () => {
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

  it('what went when its removal failed half-way comes back as well', async () => {
    expect((await storage.restore('/folder')).status).toBe(200)
    const { objects } = await files.list({ prefix: `live/${storage.site}/folder/`, folded: false, limit: 10 })
    s3.before = async ({ query = {} }) => {
      if (query['delete'] === undefined) return
      s3.before = async () => undefined
      await files.remove(objects.slice(0, 2), entry)
      throw new Error('The connection broke')
    }
    expect((await storage.remove('/folder')).status).toBe(500)
    later()
    expect((await storage.remove('/folder')).status).toBe(200)
    later()
    expect((await storage.restore('/folder')).status).toBe(200)
    expect(await Promise.all(['a', 'b', 'c'].map((name) => read(`/folder/${name}.txt`)))).toEqual([200, 200, 200])
  })

  it('nothing of it stays when the time is up, and it is free again', async () => {
    let remaining = 60_000
    s3.before = async ({ query = {} }) => {
      if (query['delete'] !== undefined) remaining = 0
    }
    const answer = await storage.restore('/folder', {}, { remaining: () => remaining })
    expect(answer.status).toBe(503)
    s3.before = async () => undefined
    later()
    expect((await storage.restore('/folder')).status).toBe(200)
    expect(await Promise.all(['a', 'b', 'c'].map((name) => read(`/folder/${name}.txt`)))).toEqual([200, 200, 200])
  })
})
