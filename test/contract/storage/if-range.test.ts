import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStorage, type StorageUnderTest } from './service.ts'

let storage: StorageUnderTest

beforeAll(async () => {
  storage = await openStorage()
})

afterAll(() => storage.close())

it('a read goes on with a range only while the file is the very same, by its tag or its time', async () => {
  await storage.put('/a.txt', '0123456789')
  const { headers } = await storage.get('/a.txt')
  const [tag = '', time = ''] = [headers['etag'], headers['last-modified']]
  expect([tag, time]).toEqual([expect.stringMatching(/^"/), expect.stringMatching(/GMT$/)])
  const earlier = new Date(Date.parse(time) - 1_000).toUTCString()
  const bodyWith = async (condition: Record<string, string>) =>
    (await storage.get('/a.txt', {}, { Range: 'bytes=4-6', ...condition })).text
  expect(await bodyWith({})).toBe('456')
  for (const same of [tag, time]) expect(await bodyWith({ 'If-Range': same })).toBe('456')
  for (const other of ['"another"', earlier]) expect(await bodyWith({ 'If-Range': other })).toBe('0123456789')
})
