import { afterAll, beforeAll, expect, it } from 'vitest'
import { fillFolder, openStorage, type StorageUnderTest } from './service.ts'

let storage: StorageUnderTest

beforeAll(async () => {
  storage = await openStorage()
})

afterAll(() => storage.close())

const page = async (folder: string, query: Record<string, string>) => {
  const { contents, cursor } = (await storage.get(folder, { meta: '', limit: '4000', ...query })).json
  return { names: contents.map(({ name }: { name: string }) => name), cursor }
}

it('a listing that has begun leaves nothing out when the folder outgrows 10,000 entries meanwhile (S-78)', async () => {
  await fillFolder(storage, '/growing', 9_000)
  const first = await page('/growing', {})
  await fillFolder(storage, '/growing', 12_000)
  const names = new Set(first.names)
  for (let { cursor } = first; cursor !== undefined; ) {
    const next = await page('/growing', { cursor })
    for (const name of next.names) names.add(name)
    cursor = next.cursor
  }
  const missing = Array.from({ length: 9_000 }, (_, index) => String(index)).filter((name) => !names.has(name))
  expect(missing).toEqual([])
})

it('a listing is in the order of code points, in which the keys are, whole and page by page', async () => {
  // By their code units, the pear would come before both of the others.
  const names = ['\ud7ff', '\uff5e', '\u{1f350}']
  for (const name of names) await storage.put(`/points/${encodeURIComponent(name)}`, 'x')
  expect((await page('/points', {})).names).toEqual(names)
  const first = await page('/points', { limit: '2' })
  expect(first.names).toEqual(names.slice(0, 2))
  expect((await page('/points', { limit: '2', cursor: first.cursor ?? '' })).names).toEqual(names.slice(2))
})
