import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { codeOf } from '../../support/answer.ts'
import { openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import { openStorageOnAws } from './hands.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

const inBucket = (): ObjectStore => openObjectStore(openBucketInMemory())

let storage: StorageUnderTest
/** A change by another caller right before the changes are placed: once, or every time. */
let meanwhile: (() => Promise<unknown>) | undefined
let again = false

const interrupt = async (): Promise<void> => {
  const other = meanwhile
  meanwhile = undefined
  await other?.()
  if (again) meanwhile = other
}

/** A store where another caller acts after the checks, and before the changes are made. */
const interrupted = (files: ObjectStore): ObjectStore => ({
  ...files,
  async place(...args) {
    await interrupt()
    return files.place(...args)
  },
  async remove(...args) {
    await interrupt()
    return files.remove(...args)
  },
})

describe.each([
  ['on one machine', (files: ObjectStore) => files],
  ['in S3', inBucket],
])('%s', (_, hold) => {
  beforeEach(async () => {
    meanwhile = undefined
    again = false
    storage = await openStorage({ between: ({ files }) => ({ files: interrupted(hold(files)) }) })
    await storage.put('/f/a', 'a')
    await storage.put('/f/b', 'b')
    await storage.put('/to/x', 'x')
  })
  afterEach(() => storage.close())

  it.each(['/f/a', '/f'])('The removal of %s also removes a file that is replaced meanwhile (S-103)', async (path) => {
    meanwhile = () => storage.put('/f/a', 'newer')
    expect((await storage.remove(path)).status).toBe(200)
    expect(await storage.textOf('/f/a')).toBeUndefined()
    const { json } = await storage.get('/f/a', { versions: '' })
    expect(json.versions.map(({ removed }: { readonly removed: boolean }) => removed)).toEqual([true, false])
  })

  describe.each([
    ['move', 'path'],
    ['copy', 'copyTo'],
  ])('A %s', (kind, member) => {
    const run = async (from: string, path: string) => {
      const answer = await storage.relocate(from, { [member]: path })
      return codeOf(answer) ?? answer.status
    }

    it('Files that are added or changed during the request are included', async () => {
      meanwhile = async () => {
        await storage.put('/f/a', 'newer')
        await storage.put('/f/c', 'c')
      }
      expect(await run('/f', '/to/f')).toBe(200)
      expect([
        await storage.textOf('/to/f/a'),
        await storage.textOf('/to/f/b'),
        await storage.textOf('/to/f/c'),
      ]).toEqual(['newer', 'b', 'c'])
      expect(await storage.textOf('/f/a')).toBe(kind === 'copy' ? 'newer' : undefined)
    })

    it('If the source is deleted meanwhile, the request answers 404/104001', async () => {
      meanwhile = () => storage.remove('/f/a')
      expect(await run('/f/a', '/to/a')).toBe(104001)
      expect(await storage.textOf('/to/a')).toBeUndefined()
    })

    it('If the new path is used meanwhile, the request answers 104022', async () => {
      for (const path of ['/f/a', '/f']) {
        meanwhile = () => storage.put('/to/new', 'first')
        expect(await run(path, '/to/new')).toBe(104022)
        await storage.remove('/to/new')
        meanwhile = () => storage.put('/to/new/below', 'first')
        expect(await run(path, '/to/new')).toBe(104022)
        expect(await storage.textOf('/to/new/below')).toBe('first')
        await storage.remove('/to/new')
      }
      expect([await storage.textOf('/f/a'), await storage.textOf('/f/b')]).toEqual(['a', 'b'])
    })

    it('Folders that are deleted meanwhile are created again', async () => {
      meanwhile = () => storage.remove('/to')
      expect(await run('/f', '/to/deep/f')).toBe(200)
      expect(await storage.textOf('/to/deep/f/a')).toBe('a')
      expect(await storage.keys()).toEqual(expect.arrayContaining(['live/1001/to/', 'live/1001/to/deep/']))
    })

    it('If a folder of the new path becomes a file meanwhile, the request answers 104009', async () => {
      meanwhile = () => storage.put('/to/deep', 'file')
      expect(await run('/f', '/to/deep/f')).toBe(104009)
      expect([await storage.textOf('/to/deep'), await storage.textOf('/f/a')]).toEqual(['file', 'a'])
    })

    it('If the source keeps changing, the request answers 503 and changes nothing', async () => {
      again = true
      let number = 0
      meanwhile = () => storage.put('/f/a', String(number++))
      expect(await run('/f', '/to/f')).toBe(100503)
      expect(await storage.textOf('/f/b')).toBe('b')
      expect((await storage.keys()).filter((key) => key.startsWith('live/1001/to/f'))).toEqual([])
    })
  })
})

describe('Two moves of one file on S3', () => {
  it.each(['HEAD', 'DELETE'])('A move is undone and answers 404/104001 if %s in S3 finds no file', async (method) => {
    const bucket = openBucketInMemory()
    storage = await openStorageOnAws({ bucket })
    onTestFinished(() => storage.close())
    await storage.put('/a', 'a')
    let isCopied = false
    let other: number | undefined
    bucket.s3.before = async (request) => {
      isCopied ||= request.method === 'PUT'
      if (!isCopied || request.method !== method || !request.path.endsWith('/a')) return
      bucket.s3.before = async () => {}
      other = (await storage.relocate('/a', { path: 'to/two' })).status
    }
    expect(codeOf(await storage.relocate('/a', { path: 'to/one' }))).toBe(104001)
    expect([other, await storage.textOf('/to/one'), await storage.textOf('/to/two')]).toEqual([200, undefined, 'a'])
  })
})
