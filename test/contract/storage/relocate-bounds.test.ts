import { afterEach, beforeEach, expect, it } from 'vitest'
import { codeOf, fillFolder, keysOf, openStorage, relocateTo, type StorageUnderTest } from './service.ts'

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
  await storage.call('PUT', `/f/${long}/x`, { body: 'x' })
  const before = await keysOf(storage)
  const answer = await relocateTo(storage, '/f', { [member]: 'y'.repeat(99) })
  expect([answer.statusCode, codeOf(answer)]).toEqual([400, 104015])
  expect(await keysOf(storage)).toEqual(before)
  expect((await relocateTo(storage, '/f', { [member]: 'y'.repeat(98) })).statusCode).toBe(200)
})

it('a copy of a folder with 10,000 objects is made; with one more, it is 104000, and all is as it was', async () => {
  const names = Array.from({ length: 9_999 }, (_, index) => String(index))
  const keys = await fillFolder(storage, '/large', 0, names)
  expect((await relocateTo(storage, '/large', { copyTo: '/copy' })).statusCode).toBe(200)
  const copied = keys.map((key) => key.replace('/large/', '/copy/'))
  const before = await keysOf(storage)
  expect(before).toEqual([...copied, ...keys].sort())
  await storage.call('PUT', '/large/one-more', { body: 'x' })
  const answer = await relocateTo(storage, '/large', { copyTo: '/again' })
  expect([answer.statusCode, codeOf(answer)]).toEqual([400, 104000])
  expect(JSON.parse(answer.body).message).toMatch(/too large to copy at once.*one by one/)
  expect(await keysOf(storage)).toHaveLength(before.length + 1)
})
