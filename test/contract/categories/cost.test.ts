import { BatchWriteCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, test } from 'vitest'
import { link, linksOf } from '../../../lib/categories/category-links.ts'
import { associationList, contentList } from '../../../lib/categories/lists.ts'
import { parseListQuery } from '../../../lib/categories/query/list-query.ts'
import type { ItemPage } from '../../../lib/categories/run-list.ts'
import type { CategoryId } from '../../../lib/core/ids.ts'
import { author, entry } from '../../support/history.ts'
import { openTestTables } from '../../support/tables.ts'
import { newsItem, range } from '../ports/some-content.ts'
import { intercept } from './faults.ts'
import { fill, newsOfCategory, openStore, site } from './store.ts'

type Capacity = { readonly CapacityUnits?: number }

const store = await openStore(openTestTables)
const plain = store.over(store.dynamodb)
/** A client that reports the capacity units of each command. */
const meter = (dynamodb: typeof store.dynamodb, used: (units: number, command: unknown) => void) =>
  intercept(dynamodb, async (_, proceed, command) => {
    Object.assign((command as QueryCommand).input, { ReturnConsumedCapacity: 'TOTAL' })
    const answer = (await proceed()) as { ConsumedCapacity?: Capacity | Capacity[] }
    for (const { CapacityUnits = 0 } of [answer.ConsumedCapacity ?? []].flat()) used(CapacityUnits, command)
    return answer
  })
let units = 0
const metered = store.over(
  meter(store.dynamodb, (used) => {
    units += used
  }),
)
const displayed = (ids: readonly number[], list = newsOfCategory) =>
  linksOf(list, ids).map((link) => ({ ...link, wanted: true }))
beforeAll(async () => {
  await fill(plain, range(1, 1_000))
  await plain.linkItems.putMany(displayed(range(1, 1_000)))
})

const list = async (switches: Readonly<Record<string, string>>, of = newsOfCategory) => {
  units = 0
  const list = associationList(of)
  const query = parseListQuery(new Map(Object.entries(switches)), list)
  const page: ItemPage = JSON.parse(await list.read(metered, query))
  return { page, units }
}

const isWrite = (command: unknown) => command instanceof BatchWriteCommand || command instanceof UpdateCommand

test('Linking 300 items in requests of 100 costs at most 2.1 write units for each item', async ({ onTestFinished }) => {
  const empty = await openStore(openTestTables, onTestFinished)
  await fill(empty.over(empty.dynamodb), range(1, 300))
  let forItems = 0
  const deps = empty.over(
    meter(empty.dynamodb, (used, command) => {
      if (isWrite(command)) forItems += used
    }),
  )
  for (let from = 1; from <= 300; from += 100) {
    await link(
      deps,
      newsOfCategory,
      // With and without `displayable`.
      range(from, from + 99).map((id) => ({ id, ...(id % 10 > 0 && { displayable: true }) })),
      author,
    )
  }
  expect(forItems).toBe(300)
  // dynalite does not charge for the index. DynamoDB charges one unit for each entry under 1 KB.
  const entries = await Promise.all(
    range(1, 300).map((id) =>
      empty.dynamodb.send(
        new QueryCommand({
          TableName: empty.names.categoryLinks,
          IndexName: 'byObject',
          KeyConditionExpression: 'id = :id',
          ExpressionAttributeValues: { ':id': id },
        }),
      ),
    ),
  )
  const forIndex = entries.reduce((sum, { Count = 0 }) => sum + Count, 0)
  expect(Math.max(...entries.map(({ Items }) => JSON.stringify(Items).length))).toBeLessThan(1_024)
  expect((forItems + forIndex) / 300).toBeLessThanOrEqual(2.1)
})

test('linking the same objects again writes nothing', async () => {
  let writes = 0
  const deps = store.over(
    intercept(store.dynamodb, (_, proceed, command) => {
      if (isWrite(command)) writes += 1
      return proceed()
    }),
  )
  await link(
    deps,
    newsOfCategory,
    // With and without `displayable`.
    range(1, 100).map((id) => ({ id, ...(id % 2 > 0 && { displayable: true }) })),
    author,
  )
  expect(writes).toBe(0)
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
    units = 0
    const all = contentList(site, 'news')
    await all.read(metered, parseListQuery(new Map(Object.entries({ cursor: '', ...switches })), all))
    return units
  }
  // Items of a range are charged together. Each has about 500 bytes.
  const items = 11 * 0.1
  expect(await unitsOf({})).toBeLessThanOrEqual(items + 0.5 + 5)
  expect(await unitsOf({ fields: 'subject' })).toBeLessThanOrEqual(items + 0.5)
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
