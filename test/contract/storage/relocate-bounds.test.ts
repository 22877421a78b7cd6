import { beforeEach, describe, expect, it } from 'vitest'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { type Answer, statusAndCode } from '../../support/answer.ts'
import { entry } from '../../support/history.ts'
import { phrase } from '../../support/messages.ts'
import { fillFolder, openStorage, type StorageUnderTest } from './service.ts'

let storage: StorageUnderTest

beforeEach(async () => {
  storage = await openStorage()
})

const relocations = [
  { kind: 'rename', bodyOf: (name: string) => ({ name }) },
  { kind: 'move', bodyOf: (path: string) => ({ path }) },
  { kind: 'copy', bodyOf: (copyTo: string) => ({ copyTo }) },
]

/** Expects a refusal that leaves every object unchanged. */
const refused = async (relocating: () => Promise<Answer>, code: number) => {
  const before = await storage.keys()
  expect(statusAndCode(await relocating())).toEqual([400, code])
  expect(await storage.keys()).toEqual(before)
}

/** A path of this many bytes, in names of at most 200. */
const longPath = (bytes: number, folder: string, ending = ''): string => {
  const path = `${folder}/${Array.from({ length: 4 }, () => 'n'.repeat(199)).join('/')}/`
  return path + 'x'.repeat(bytes - path.length - ending.length) + ending
}

const long: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
  ['a file', '', {}],
  ['a draft', '.html', { version: 'draft' }],
  ['a folder', '', { type: 'folder' }],
]

describe.each(relocations)('The limits of a $kind', ({ kind, bodyOf }) => {
  it.each(long.filter(([what]) => kind !== 'copy' || what !== 'a draft'))(
    'The new path of %s may have 900 bytes, a longer one answers 104015 (S-11)',
    async (_, ending, query) => {
      await storage.put(`/${longPath(899, 'f', ending)}`, '', query)
      expect((await storage.relocate('/f', bodyOf('fo'))).status).toBe(200)
      expect(await storage.keys()).toContainEqual(expect.stringContaining(`/1001/${longPath(900, 'fo', ending)}`))
      await refused(() => storage.relocate('/fo', bodyOf('foo')), 104015)
    },
  )

  it('A move or copy of a folder without time left is refused with 104000 (S-59)', async () => {
    await fillFolder(storage, '/large', 10)
    await refused(() => storage.relocate('/large', bodyOf('other'), { remaining: 0 }), 104000)
  })

  it('A target in a folder that is being removed is refused with 104010 (S-46, S-103)', async () => {
    for (const path of ['/going/a', '/going/f/b', '/a']) await storage.put(path)
    const folder = toStoragePath('going/f')
    const id = await storage.deps.removals.open(storage.site, folder, 'one', entry)
    for (const path of ['/going/f/b', '/going/f', '/going']) {
      await refused(() => storage.relocate(path, bodyOf('b')), 104010)
    }
    if (kind !== 'rename') {
      for (const to of ['/going/f/a', '/going/f']) await refused(() => storage.relocate('/a', bodyOf(to)), 104010)
    }
    await storage.deps.removals.close(storage.site, folder, id, 0)
    expect((await storage.relocate('/going', bodyOf('b'))).status).toBe(200)
  })
})

it('10,000 objects are moved or copied, and one more is refused with 104000 (S-108)', async () => {
  // The folder itself is an object too.
  await fillFolder(storage, '/large', 9_999)
  expect((await storage.relocate('/large', { path: 'other' })).status).toBe(200)
  expect((await storage.relocate('/other', { copyTo: 'copy' })).status).toBe(200)
  await storage.put('/other/one-more', 'x')
  for (const [body, message] of [
    [{ path: 'again' }, phrase`too large to rename … Upload the folder`],
    [{ copyTo: 'again' }, phrase`too large to copy…one by one`],
  ] as const) {
    const refused = await storage.relocate('/other', body)
    expect(statusAndCode(refused)).toEqual([400, 104000])
    expect(refused.json.message).toMatch(message)
  }
  const keys = (await storage.keys()).map((key) => key.split('/')[2])
  expect(['other', 'copy', 'again'].map((name) => keys.filter((one) => one === name).length)).toEqual([
    10_001, 10_000, 0,
  ])
}, 180_000)

it('Without time left, a copy of a file is refused with 104000 (S-59)', async () => {
  await storage.put('/a')
  await refused(() => storage.relocate('/a', { copyTo: 'b/c' }, { remaining: 0 }), 104000)
})
