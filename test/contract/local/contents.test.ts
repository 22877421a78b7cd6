import { setImmediate as giveWay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import { createTableStores } from '../../../lib/machine/machine.ts'
import { entry } from '../../support/hands.ts'
import { scratchTables } from '../../support/scratch-database.ts'
import { idsOf, newsItem, newsItems, range } from '../ports/some-content.ts'

const site = 1001 as SiteId
const category = 5 as CategoryId
const list = { site, kind: 'news', category } as const

/** A category with 30 news items. A killed process left unfinished removals of the category and of the news item 7. */
const openHalfRemoved = async (going: readonly ('category' | 'object')[]) => {
  const database = scratchTables()
  const { contents, links } = createTableStores(database)
  await contents.putMany(site, 'category', [{ id: 5, name: 'Five' }], entry)
  await contents.putMany(site, 'news', newsItems(range(1, 30)), entry)
  await links.link(list, new Map(range(1, 30).map((id) => [id, undefined])), entry)
  if (going.includes('category')) database.connection.exec('UPDATE categories SET going = 1 WHERE id = 5')
  if (going.includes('object')) database.connection.exec('UPDATE news SET going = 1 WHERE id = 7')
  const rowsOf = (table: string) =>
    Number(database.connection.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'])
  return { database, contents, links, rowsOf }
}

test('an object whose removal was interrupted is not read, listed, counted or linked', async () => {
  const { contents, links } = await openHalfRemoved(['object'])
  const others = range(1, 30).filter((id) => id !== 7)
  expect(await contents.get(site, 'news', 7)).toBeUndefined()
  expect([...(await contents.getMany(site, 'news', range(1, 30))).keys()]).toEqual(others)
  expect(await contents.existing(site, 'news', [7])).toEqual(new Set())
  expect(idsOf(await contents.list(site, 'news', 0, 100))).toEqual(others)
  expect((await contents.count(site, 'news', 0, 100)).count).toBe(29)
  expect(idsOf(await links.list(list, 0, 100))).toEqual(others)
  expect((await links.count(list, 0, 100)).count).toBe(29)
  expect(await links.categoriesOf({ site, kind: 'news', id: 7 }, 0, 10)).toEqual([])
  const unknown = { outcome: 'others unknown', ids: new Set([7]) }
  expect(await links.link(list, new Map([[7, true]]), entry)).toEqual(unknown)
  expect(await contents.create(site, 'news', newsItem(7), entry)).toBe(false)
})

test('a category whose removal was interrupted is hidden, and refuses new links', async () => {
  const { contents, links } = await openHalfRemoved(['category'])
  expect(await contents.get(site, 'category', 5)).toBeUndefined()
  expect(await links.list(list, 0, 100)).toEqual([])
  expect((await links.count(list, 0, 100)).count).toBe(0)
  expect(await links.categoriesOf({ site, kind: 'news', id: 8 }, 0, 10)).toEqual([])
  expect((await links.countCategoriesOf({ site, kind: 'news', id: 8 }, 0, 10)).count).toBe(0)
  expect(await links.link(list, new Map([[1, true]]), entry)).toEqual({ outcome: 'end unknown' })
  expect(await links.unlink(list, [1], entry)).toEqual({ outcome: 'end unknown' })
})

test.each<[string, (half: Awaited<ReturnType<typeof openHalfRemoved>>) => Promise<unknown>]>([
  [
    'a repetition',
    async ({ contents }) => [
      await contents.remove(site, 'news', 7, entry),
      await contents.remove(site, 'category', category, entry),
    ],
  ],
  ['the next start', ({ contents }) => contents.finishRemovals()],
])('%s completes an interrupted removal', async (_, finish) => {
  const half = await openHalfRemoved(['category', 'object'])
  await finish(half)
  expect(['categories', 'news', 'news_texts', 'news_links'].map(half.rowsOf)).toEqual([0, 29, 29, 0])
})

test('content that is stored after an interrupted removal has no old links', async () => {
  const { contents, links } = await openHalfRemoved(['category', 'object'])
  await contents.putMany(site, 'news', [newsItem(7)], entry)
  await contents.putMany(site, 'category', [{ id: 5, name: 'Again' }], entry)
  expect(await contents.get(site, 'news', 7)).toBeDefined()
  expect(await links.list(list, 0, 100)).toEqual([])
  expect(await links.categoriesOf({ site, kind: 'news', id: 7 }, 0, 10)).toEqual([])
})

test('the removal of a category with many links does not block other changes', async ({ signal }) => {
  const { database, contents, links, rowsOf } = await openHalfRemoved([])
  const many = range(31, 6_000)
  await contents.putMany(site, 'news', newsItems(many), entry)
  for (let from = 0; from < many.length; from += 500) {
    await links.link(list, new Map(many.slice(from, from + 500).map((id) => [id, undefined])), entry)
  }
  const left: number[] = []
  const countLeft = () => database.write(() => rowsOf('news_links'))
  let isDone = false
  const removing = contents.remove(site, 'category', category, entry).finally(() => {
    isDone = true
  })
  while (!isDone && !signal.aborted) left.push(await countLeft())
  expect(await removing).toBe(true)
  expect(left.filter((count) => count > 0 && count < 6_000).length).toBeGreaterThan(0)
})

/** Each read between two turns sees the state that a killed process would leave. */
test.for(['created', 'replaced'])('an object and its long text are %s together', async (how, { signal }) => {
  const { contents } = createTableStores(scratchTables())
  const item = newsItem(7, { subject: 'New', body: 'New too' })
  const create = (created: typeof item) => contents.create(site, 'news', created, entry)
  if (how === 'replaced') await create(newsItem(7))
  const storing = how === 'replaced' ? contents.putMany(site, 'news', [item], entry) : create(item)
  const isOld = async () => (await contents.get(site, 'news', 7))?.['subject'] !== 'New'
  while (!signal.aborted && (await isOld())) await giveWay()
  expect(await contents.texts(site, 'news', [7])).toEqual(new Map([[7, 'New too']]))
  await storing
})
