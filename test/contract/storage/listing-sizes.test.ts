import { afterAll, beforeAll, expect, it } from 'vitest'
import { fillFolder, openStorage, type StorageUnderTest } from './service.ts'

let storage: StorageUnderTest

beforeAll(async () => {
  storage = await openStorage()
})

afterAll(() => storage.close())

/** What an answer may have, in bytes, when it is handed over as a text within JSON. */
const largestAnswer = 5_000_000
const japanese = (text: string, characters: number): string => text + '名'.repeat(characters - text.length)
const folder = `/${japanese('', 20)}/${japanese('', 20)}`

const pages = async (path: string, query: Record<string, string> = {}) => {
  const found: { names: string[]; bytes: number }[] = []
  let cursor: string | undefined
  do {
    const { text, json } = await storage.get(encodeURI(path), { meta: '', ...query, ...(cursor && { cursor }) })
    const answer = json as { contents: { name: string }[]; cursor?: string }
    found.push({ names: answer.contents.map(({ name }) => name), bytes: Buffer.byteLength(JSON.stringify(text)) })
    cursor = answer.cursor
  } while (cursor !== undefined)
  return found
}

it.each([
  ['sorted by name as a whole', 10_000],
  ['listed in the order of the store', 10_001],
])(
  'a page of ?meta is cut to what an answer may hold, and the listing goes on behind it, %s (S-79)',
  async (_, count) => {
    const path = `${folder}/${count}`
    const names = Array.from({ length: count }, (_, index) => japanese(String(index), 20))
    await fillFolder(storage, path, count, names)
    const found = await pages(path)
    expect(found.length).toBeGreaterThan(1)
    expect(Math.max(...found.map(({ bytes }) => bytes))).toBeLessThan(largestAnswer)
    // A page is cut where it must be, not long before.
    expect(found[0]?.bytes).toBeGreaterThan(largestAnswer * 0.9)
    expect(found.flatMap((page) => page.names).sort()).toEqual(names.sort())
  },
)

it('a page of ?meta is cut for the sake of its names alone', async () => {
  const names = Array.from({ length: 5_000 }, (_, index) => japanese(String(index), 80))
  await fillFolder(storage, '/long', names.length, names)
  const found = await pages('/long')
  expect(Math.max(...found.map(({ bytes }) => bytes))).toBeLessThan(largestAnswer)
  expect(found.flatMap((page) => page.names).sort()).toEqual(names.sort())
})

it('a page that is cut leaves out nothing whose name and key are in different orders', async () => {
  const names = Array.from({ length: 5_001 }, (_, index) => [
    `${index}名`.padEnd(60, '名'),
    `${index}名`.padEnd(60, '名'),
  ]).flatMap(([first, second]) => [`${first}`, `${second}-b`])
  await fillFolder(storage, '/orders', names.length, names)
  const found = await pages('/orders')
  expect(found.length).toBeGreaterThan(1)
  expect(found.flatMap((page) => page.names).sort()).toEqual(names.sort())
})
