import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import { encodePath, nameOf, parentOf, parsePath, type StoragePath, toStoragePath } from '../../../lib/storage/path.ts'
import { statusAndCode } from '../../support/answer.ts'
import { timesToTry } from '../../support/each-call.ts'
import { hostilePath } from '../../support/hostile-path.ts'
import { openStorage } from './service.ts'

const storage = await openStorage()
await storage.put('/source', 'x')
afterAll(() => storage.close())

/** The path that the text means, or the code with which the service refuses it. */
const read = (text: string, parse: (text: string) => StoragePath): StoragePath | number => {
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

// A separate folder for each run, so that no file blocks another file.
let number = 0

it.each([
  {
    what: 'a file',
    runs: 300,
    parse: parsePath,
    store: (path: string, text: string) => storage.put(`/${path}`, text),
  },
  {
    what: 'a copy, whose new path is plain text',
    runs: 200,
    parse: (path: string) => toStoragePath(path.split(/\/+/).filter(Boolean).join('/')),
    store: (path: string) => storage.relocate('/source', { copyTo: path }),
  },
])('Any path of $what is refused, or stored below the site under exactly this name', async ({ runs, parse, store }) => {
  let stored = 0
  const property = fc.asyncProperty(hostilePath, async (text) => {
    const written = `${number++}/${text}`
    const path = read(written, parse)
    const answer = await store(written, text)
    if (typeof path === 'number') {
      expect(statusAndCode(answer)).toEqual([400, path])
      return
    }
    expect(answer.status).toBe(200)
    expect(await namesIn(parentOf(path))).toContain(nameOf(path))
    stored += 1
  })
  await fc.assert(property, { numRuns: timesToTry(runs) })
  expect(stored).toBeGreaterThan(timesToTry(20))

  const keys = await storage.keys()
  expect(keys.length).toBeGreaterThan(stored)
  for (const key of keys) {
    const [area, site, ...segments] = key.replace(/\/$/, '').split('/')
    expect([area, site]).toEqual(['live', String(storage.site)])
    for (const segment of segments) expect(['', '.', '..']).not.toContain(segment)
  }
  expect(storage.leftovers()).toBe(0)
})
