import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStorage, type StorageUnderTest } from './service.ts'

let storage: StorageUnderTest

beforeAll(async () => {
  storage = await openStorage()
})

afterAll(() => storage.close())

it('a read goes on with a range only while the file is the very same, by its tag or its time', async () => {
  await storage.call('PUT', '/a.txt', { body: '0123456789' })
  const { headers } = await storage.call('GET', '/a.txt')
  const [tag = '', time = ''] = [headers['ETag'], headers['Last-Modified']]
  expect([tag, time]).toEqual([expect.stringMatching(/^"/), expect.stringMatching(/GMT$/)])
  const earlier = new Date(Date.parse(time) - 1_000).toUTCString()
  const bodyWith = async (condition: Record<string, string>) =>
    (await storage.call('GET', '/a.txt', { headers: { Range: 'bytes=4-6', ...condition } })).body
  expect(await bodyWith({})).toBe('456')
  for (const same of [tag, time]) expect(await bodyWith({ 'If-Range': same })).toBe('456')
  for (const other of ['"another"', earlier]) expect(await bodyWith({ 'If-Range': other })).toBe('0123456789')
})
