import { afterEach, beforeEach, expect, it } from 'vitest'
import { statusAndCode } from '../../support/answer.ts'
import { fillFolder, openStorage, type StorageUnderTest } from './service.ts'

let storage: StorageUnderTest

beforeEach(async () => {
  storage = await openStorage()
})
afterEach(() => storage.close())

it.each([
  ['move', 'path'],
  ['copy', 'copyTo'],
])('a %s lets no path grow beyond 900 bytes: 400 / 104015', async (_, member) => {
  const long = Array.from({ length: 4 }, () => 'n'.repeat(199)).join('/')
  await storage.put(`/f/${long}/x`, 'x')
  const before = await storage.keys()
  const answer = await storage.relocate('/f', { [member]: 'y'.repeat(99) })
  expect(statusAndCode(answer)).toEqual([400, 104015])
  expect(await storage.keys()).toEqual(before)
  expect((await storage.relocate('/f', { [member]: 'y'.repeat(98) })).status).toBe(200)
})

it('a copy of a folder with 10,000 objects is made; with one more, it is 104000, and all is as it was (S-108)', async () => {
  const names = Array.from({ length: 9_999 }, (_, index) => String(index))
  const keys = await fillFolder(storage, '/large', 0, names)
  expect((await storage.relocate('/large', { copyTo: '/copy' })).status).toBe(200)
  const copied = keys.map((key) => key.replace('/large/', '/copy/'))
  const before = await storage.keys()
  expect(before).toEqual([...copied, ...keys].sort())
  await storage.put('/large/one-more', 'x')
  const answer = await storage.relocate('/large', { copyTo: '/again' })
  expect(statusAndCode(answer)).toEqual([400, 104000])
  expect(answer.json.message).toMatch(/too large to copy at once.*one by one/)
  expect(await storage.keys()).toHaveLength(before.length + 1)
})
