import { beforeAll, expect, test } from 'vitest'
import { link, linksOf } from '../../../lib/categories/category-links.ts'
import { associationList, contentList } from '../../../lib/categories/lists.ts'
import { parseListQuery } from '../../../lib/categories/query/list-query.ts'
import type { ItemPage } from '../../../lib/categories/run-list.ts'
import type { CategoryId } from '../../../lib/core/ids.ts'
import { meter } from '../../../tools/bench/measure/meter.ts'
import { author, entry } from '../../support/history.ts'
import { openTestTables } from '../../support/tables.ts'
import { newsItem, range } from '../ports/some-content.ts'
import { fill, newsOfCategory, openStore, site } from './store.ts'

const store = await openStore(openTestTables)
const plain = store.over(store.dynamodb)
const client = store.connect()
const metered = store.over(client)
/** The capacity that the metered stores have consumed since the last call. */
const consumed = meter(client)

const displayed = (ids: readonly number[], list = newsOfCategory) =>
  linksOf(list, ids).map((link) => ({ ...link, wanted: true }))
beforeAll(async () => {
  await fill(plain, range(1, 1_000))
  await plain.linkItems.putMany(displayed(range(1, 1_000)))
})

const list = async (switches: Readonly<Record<string, string>>, of = newsOfCategory) => {
  const list = associationList(of)
  const query = parseListQuery(new Map(Object.entries(switches)), list)
  consumed()
  const page: ItemPage = JSON.parse(await list.read(metered, query))
  return { page, units: consumed().readUnits }
}

/** Links to these objects, with and without `displayable`. */
const linksOfEach = (ids: readonly number[]) => ids.map((id) => ({ id, ...(id % 10 > 0 && { displayable: true }) }))

test('Linking 300 items in requests of 100 costs at most 2.1 write units for each item', async ({ onTestFinished }) => {
  const empty = await openStore(openTestTables, onTestFinished)
  const deps = empty.over(empty.dynamodb)
  await fill(deps, range(1, 300))
  const ofLinks = meter(empty.dynamodb)
  for (let from = 1; from <= 300; from += 100) {
    await link(deps, newsOfCategory, linksOfEach(range(from, from + 99)), author)
  }
  const { writeUnits } = ofLinks()
  expect(writeUnits).toBeGreaterThanOrEqual(600)
  expect(writeUnits / 300).toBeLessThanOrEqual(2.1)
})

test('linking the same objects again writes nothing', async () => {
  consumed()
  await link(metered, newsOfCategory, linksOfEach(range(1, 100)), author)
  expect(consumed().writes).toBe(0)
})

test('a page without where and order reads only its own items and the keys of the list', async () => {
  // The expected reads: the category, 10 news items, 10 texts, and 1,000 links of about 35 bytes.
  expect((await list({})).units).toBeLessThanOrEqual(1 + 5 + 5 + 8)
  expect((await list({ skip: '990' })).units).toBeLessThanOrEqual(1 + 5 + 5 + 8)
})

test('a page that does not show the long texts of its items does not read them', async () => {
  const shown = await list({ fields: 'news' })
  const hidden = await list({ fields: 'news.subject' })
  expect(shown.units - hidden.units).toBe(5)
})

test('a page that is read by cursor costs the same at every position', async () => {
  const first = await list({ cursor: '' })
  let cursor = String(first.page.nextCursor)
  for (let page = 0; page < 10; page++) cursor = String((await list({ cursor })).page.nextCursor)
  expect((await list({ cursor })).units).toBe(first.units)
  expect(first.units).toBeLessThanOrEqual(1 + 5 + 5 + 0.5)
})

test('a page of all news items that is read by cursor reads only its own items', async () => {
  const unitsOf = async (switches: Readonly<Record<string, string>>) => {
    const all = contentList(site, 'news')
    consumed()
    await all.read(metered, parseListQuery(new Map(Object.entries({ cursor: '', ...switches })), all))
    return consumed().readUnits
  }
  // Items of a range are charged together. Each has about 500 bytes.
  const items = 11 * 0.1
  expect(await unitsOf({})).toBeLessThanOrEqual(items + 0.5 + 5)
  expect(await unitsOf({ fields: 'subject' })).toBeLessThanOrEqual(items + 0.5)
})

test('only two long sorted lists are in memory at once, and the others wait', async () => {
  let [running, most] = [0, 0]
  const contents: typeof plain.contents = {
    ...plain.contents,
    async list(...request) {
      const [, , after] = request
      if (after === 0) return plain.contents.list(...request)
      running += 1
      most = Math.max(most, running)
      const entries = await plain.contents.list(...request)
      running -= 1
      return entries
    },
  }
  const all = contentList(site, 'news')
  const query = parseListQuery(new Map([['order', '-subject']]), all)
  const pages = await Promise.all(range(1, 6).map(() => all.read({ ...plain, contents }, query)))
  expect([most, new Set(pages).size]).toEqual([2, 1])
})

test('a page over 5 MB gets fewer items, and limit shows how many (C-10)', async () => {
  const body = '<p>"long" text</p>\n'.repeat(18_000)
  const ofLong = { ...newsOfCategory, category: 6 as CategoryId }
  await plain.contents.putMany(site, 'category', [{ id: ofLong.category, name: 'Six' }], entry)
  const ids = range(2_001, 2_060)
  // The short items at the end would fit, but a page has no gaps.
  const news = ids.map((id) => newsItem(id, id <= 2_020 ? { body } : {}))
  await plain.contents.putMany(site, 'news', news, entry)
  await plain.linkItems.putMany(displayed(ids, ofLong))

  const { page } = await list({ limit: '500' }, ofLong)
  expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(5_000_000)
  expect(page.items.length).toBeGreaterThan(5)
  expect(page.items.map(({ objectId }) => objectId)).toEqual(ids.slice(0, page.items.length))
  expect(page).toMatchObject({ totalItemsCount: 60, skip: 0, limit: page.items.length })
})
