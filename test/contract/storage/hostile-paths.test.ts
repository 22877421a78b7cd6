import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import { encodePath, nameOf, parentOf, parsePath, type StoragePath, toStoragePath } from '../../../lib/storage/path.ts'
import { statusAndCode } from '../../support/answer.ts'
import { hostilePath } from '../../support/hostile-path.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

let storage: StorageUnderTest
beforeAll(async () => {
  storage = await openStorage()
})
afterAll(() => storage.close())

/** The path that a text is read as, or the code that it is refused with. */
const read = (text: string, parse = parsePath): StoragePath | number => {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof ServiceError) return error.code
    throw error
  }
}

const namesIn = async (folder: StoragePath): Promise<string[]> => {
  const { json } = await storage.get(`/${encodePath(folder)}`, { meta: '' })
  return json.contents.map(({ name }: { name: string }) => name)
}

it('a file at whatever path is refused, or lies below the prefix of its site and is listed under its own name', async () => {
  let number = 0
  let stored = 0
  const property = fc.asyncProperty(hostilePath, async (text) => {
    // A folder of its own, so that no file is in another one's way.
    const written = `${number++}/${text}`
    const path = read(written)
    const answer = await storage.put(`/${written}`, text)
    if (typeof path === 'number') {
      expect(statusAndCode(answer)).toEqual([400, path])
      return
    }
    expect(answer.status).toBe(200)
    expect(await namesIn(parentOf(path))).toContain(nameOf(path))
    stored += 1
  })
  await fc.assert(property, { numRuns: 300 })
  expect(stored).toBeGreaterThan(30)

  const keys = await storage.keys()
  expect(keys.length).toBeGreaterThan(stored)
  for (const key of keys) {
    const [area, site, ...segments] = key.replace(/\/$/, '').split('/')
    expect([area, site]).toEqual(['live', String(storage.site)])
    for (const segment of segments) expect(['', '.', '..']).not.toContain(segment)
  }
  expect(await storage.leftovers()).toBe(0)
})

it('a copy to whatever path, which is plain text there, is refused, or lies below the prefix of its site under its own name', async () => {
  await storage.put('/source', 'x')
  let number = 0
  let copied = 0
  const property = fc.asyncProperty(hostilePath, async (text) => {
    const written = `copies/${number++}/${text}`
    const path = read(written.split(/\/+/).filter(Boolean).join('/'), toStoragePath)
    const answer = await storage.relocate('/source', { copyTo: written })
    if (typeof path === 'number') {
      expect(statusAndCode(answer)).toEqual([400, path])
      return
    }
    expect(answer.status).toBe(200)
    expect(await namesIn(parentOf(path))).toContain(nameOf(path))
    copied += 1
  })
  await fc.assert(property, { numRuns: 200 })
  expect(copied).toBeGreaterThan(20)
  const keys = await storage.keys()
  for (const key of keys) {
    expect(key.startsWith(`live/${storage.site}/`)).toBe(true)
    for (const segment of key.replace(/\/$/, '').split('/')) expect(['', '.', '..']).not.toContain(segment)
  }
})
