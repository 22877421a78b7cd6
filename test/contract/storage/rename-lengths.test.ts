import { afterAll, beforeAll, expect, it } from 'vitest'
import { codeOf, statusAndCode } from '../../support/answer.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

let storage: StorageUnderTest

beforeAll(async () => {
  storage = await openStorage()
})

afterAll(() => storage.close())

/** Names of 200 bytes and a last one, so that the whole path has so many bytes. */
const pathOf = (bytes: number, folder: string, ending = ''): string => {
  const long = Array.from({ length: 4 }, () => 'n'.repeat(199)).join('/')
  const path = `${folder}/${long}/`
  return path + 'x'.repeat(bytes - path.length - ending.length) + ending
}

it.each([
  ['a live file', '', {}],
  ['a draft', '.html', { version: 'draft' }],
])('a rename lets the path of %s grow to 900 bytes, and no further', async (_, ending, query) => {
  await storage.put(`/${pathOf(899, 'f', ending)}`, 'x', query)
  expect((await storage.rename('/f', 'fo')).status).toBe(200)
  const before = await storage.keys()
  expect(before.some((key) => key.endsWith(`/1001/${pathOf(900, 'fo', ending)}`))).toBe(true)

  const answer = await storage.rename('/fo', 'foo')
  expect(statusAndCode(answer)).toEqual([400, 104015])
  expect(await storage.keys()).toEqual(before)
  expect((await storage.remove('/fo')).status).toBe(200)
})

it('a rename lets the path of a folder grow to 900 bytes, and no further', async () => {
  await storage.makeFolder(`/${pathOf(899, 'f')}`)
  expect((await storage.rename('/f', 'fo')).status).toBe(200)
  expect(codeOf(await storage.rename('/fo', 'foo'))).toBe(104015)
  expect((await storage.remove('/fo')).status).toBe(200)
})
