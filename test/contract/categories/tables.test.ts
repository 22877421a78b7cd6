import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import dynalite from 'dynalite'
import { afterAll, describe, expect, test } from 'vitest'
import { createCategoryLinksTable } from '../../../lib/categories/category-links-table.ts'
import { largestId } from '../../../lib/categories/key-range.ts'
import type { CategoryId, SiteId } from '../../../lib/ids.ts'
import { openDataDirectory } from '../../../local/data-directory.ts'
import { embeddedTableNames, openEmbeddedTables } from '../../../local/embedded-tables.ts'
import { newsItem, newsOfCategory, openStore, range, site } from './store.ts'

const store = await openStore()
const deps = store.over(store.documents)
afterAll(() => store.close())

const links = (ids: readonly number[]) => ids.map((id) => ({ id, displayable: true }))
const ids = (values: readonly { readonly id: number }[]) => values.map(({ id }) => id)

describe('the links of a category', () => {
  test('come in order of ids, from behind any of them, the largest included', async () => {
    await deps.links.putMany(newsOfCategory, links([largestId, 9, 100, 10]))
    expect(ids(await deps.links.list(newsOfCategory, 0, 10))).toEqual([9, 10, 100, largestId])
    expect(ids(await deps.links.list(newsOfCategory, 9, 2))).toEqual([10, 100])
    expect(ids(await deps.links.list(newsOfCategory, 100, 10))).toEqual([largestId])
    expect(await deps.links.list(newsOfCategory, largestId, 10)).toEqual([])
  })

  test('are counted from behind any of them, up to a limit', async () => {
    expect(await deps.links.count(newsOfCategory, 0, 3)).toMatchObject({ count: 3, last: 100, ended: false })
    expect(await deps.links.count(newsOfCategory, 9, 1_000)).toMatchObject({ count: 3, ended: true })
    expect(await deps.links.count(newsOfCategory, largestId, 10)).toMatchObject({ count: 0, ended: true })
  })

  test('are not those of another kind, category or site', async () => {
    const others = [
      { ...newsOfCategory, kind: 'blog' },
      { ...newsOfCategory, category: 50 as CategoryId },
      { ...newsOfCategory, site: 10 as SiteId },
    ] as const
    for (const list of others) await deps.links.putMany(list, links([11]))
    expect(ids(await deps.links.list(newsOfCategory, 0, 10))).not.toContain(11)
    expect(await deps.links.categoriesOf(site, 'news', 11, 0, 10)).toEqual([50])
    expect(await deps.links.categoriesOf(site, 'blog', 11, 0, 10)).toEqual([5])
    expect(await deps.links.categoriesOf(10 as SiteId, 'news', 11, 0, 10)).toEqual([5])
  })
})

describe('the categories of an object', () => {
  test('come in order of ids, however many digits those have', async () => {
    const categories = [largestId, 9, 100, 10] as CategoryId[]
    for (const category of categories) await deps.links.putMany({ ...newsOfCategory, category }, links([77]))
    expect(await deps.links.categoriesOf(site, 'news', 77, 0, 10)).toEqual([9, 10, 100, largestId])
    expect(await deps.links.categoriesOf(site, 'news', 77, 9, 2)).toEqual([10, 100])
    expect((await deps.links.countCategoriesOf(site, 'news', 77, 9, 10)).count).toBe(3)
    await deps.links.deleteOfObject(site, 'news', 77, categories)
    expect(await deps.links.categoriesOf(site, 'news', 77, 0, 10)).toEqual([])
  })

  test('do not change when a link is made anew with another displayable', async () => {
    await deps.links.putMany(newsOfCategory, [{ id: 78, displayable: true }])
    await deps.links.putMany(newsOfCategory, [{ id: 78, displayable: false }])
    expect(await deps.links.categoriesOf(site, 'news', 78, 0, 10)).toEqual([newsOfCategory.category])
    expect((await deps.links.getMany(newsOfCategory, [78])).get(78)).toEqual({ id: 78, displayable: false })
  })
})

describe('content', () => {
  test('comes back as it was stored, its long text apart', async () => {
    const item = newsItem(1, { subject: 'Äpfel "und" <Birnen> 🍐', weight: -3, body: '<p>🍐</p>' })
    await deps.content.putMany(site, 'news', [item])
    const { body, ...summary } = item
    expect(await deps.content.get(site, 'news', 1)).toEqual({ ...summary, siteId: site })
    expect((await deps.content.texts(site, 'news', [1, 2])).get(1)).toBe(body)
  })

  test('is created once', async () => {
    expect(await deps.content.create(site, 'category', { id: 8, name: 'Eight' })).toBe(true)
    expect(await deps.content.create(site, 'category', { id: 8, name: 'Again' })).toBe(false)
    expect(await deps.content.get(site, 'category', 8)).toEqual({ id: 8, name: 'Eight' })
    expect(await deps.content.highestId(site, 'category')).toBe(8)
    expect(await deps.content.highestId(site, 'blog')).toBe(0)
  })

  test('of more than one call is read whole', async () => {
    const many = range(1_001, 1_350)
    await deps.content.putMany(
      site,
      'news',
      many.map((id) => newsItem(id)),
    )
    expect([...(await deps.content.getMany(site, 'news', many)).keys()].sort()).toEqual(many)
    expect((await deps.content.existing(site, 'news', [...many, 5_000])).size).toBe(many.length)
    expect(ids(await deps.content.list(site, 'news', 1_340, 500))).toEqual(range(1_341, 1_350))
  })
})

test('a table with an index, whose creation a killed process left unfinished, is finished', async () => {
  const path = mkdtempSync(join(tmpdir(), 'categories-'))
  const directory = openDataDirectory(path)
  const unfinished: Server = dynalite({ path: directory.tables, createTableMs: 1_000_000 })
  unfinished.listen(0, '127.0.0.1')
  await once(unfinished, 'listening')
  const { port } = unfinished.address() as AddressInfo
  const client = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  await client.send(
    new CreateTableCommand({
      TableName: embeddedTableNames.categoryLinks,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'list', AttributeType: 'S' },
        { AttributeName: 'id', AttributeType: 'N' },
      ],
      KeySchema: [
        { AttributeName: 'list', KeyType: 'HASH' },
        { AttributeName: 'id', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byObject',
          KeySchema: [
            { AttributeName: 'id', KeyType: 'HASH' },
            { AttributeName: 'list', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    }),
  )
  client.destroy()
  await new Promise((resolve) => unfinished.close(resolve))

  const { documents, close } = await openEmbeddedTables(directory, directory.socket)
  try {
    const table = createCategoryLinksTable({ client: documents, table: embeddedTableNames.categoryLinks })
    await table.putMany(newsOfCategory, links([3]))
    expect(await table.categoriesOf(site, 'news', 3, 0, 10)).toEqual([newsOfCategory.category])
  } finally {
    await close()
    rmSync(path, { recursive: true, force: true })
  }
})
