import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CategoryId, largestContentId, type SiteId } from '../../../lib/core/ids.ts'
import { entry } from '../../support/history.ts'
import { newsItem, newsOfCategory, openStore, range, site } from './store.ts'

const store = await openStore()
const deps = store.over(store.dynamodb)
afterAll(() => store.close())

const links = (ids: readonly number[]) => ids.map((id) => ({ id, displayable: true }))
const ids = (values: readonly { readonly id: number }[]) => values.map(({ id }) => id)

describe('the links of a category', () => {
  beforeAll(() => deps.linkItems.putMany(newsOfCategory, links([largestContentId, 9, 100, 10])))

  test('come in order of ids, from behind any of them, the largest included', async () => {
    expect(ids(await deps.linkItems.list(newsOfCategory, 0, 10))).toEqual([9, 10, 100, largestContentId])
    expect(ids(await deps.linkItems.list(newsOfCategory, 9, 2))).toEqual([10, 100])
    expect(ids(await deps.linkItems.list(newsOfCategory, 100, 10))).toEqual([largestContentId])
    expect(await deps.linkItems.list(newsOfCategory, largestContentId, 10)).toEqual([])
  })

  test('are counted from behind any of them, up to a limit', async () => {
    expect(await deps.linkItems.count(newsOfCategory, 0, 3)).toMatchObject({ count: 3, last: 100, ended: false })
    expect(await deps.linkItems.count(newsOfCategory, 9, 1_000)).toMatchObject({ count: 3, ended: true })
    expect(await deps.linkItems.count(newsOfCategory, largestContentId, 10)).toMatchObject({ count: 0, ended: true })
  })

  test('are not those of another kind, category or site', async () => {
    const others = [
      { ...newsOfCategory, kind: 'blog' },
      { ...newsOfCategory, category: 50 as CategoryId },
      { ...newsOfCategory, site: 10 as SiteId },
    ] as const
    for (const list of others) await deps.linkItems.putMany(list, links([11]))
    expect(ids(await deps.linkItems.list(newsOfCategory, 0, 10))).not.toContain(11)
    expect(await deps.linkItems.categoriesOf({ site, kind: 'news', id: 11 }, 0, 10)).toEqual([50])
    expect(await deps.linkItems.categoriesOf({ site, kind: 'blog', id: 11 }, 0, 10)).toEqual([5])
    expect(await deps.linkItems.categoriesOf({ site: 10 as SiteId, kind: 'news', id: 11 }, 0, 10)).toEqual([5])
  })
})

describe('the categories of an object', () => {
  test('come in order of ids, however many digits those have', async () => {
    const categories = [largestContentId, 9, 100, 10] as CategoryId[]
    for (const category of categories) await deps.linkItems.putMany({ ...newsOfCategory, category }, links([77]))
    expect(await deps.linkItems.categoriesOf({ site, kind: 'news', id: 77 }, 0, 10)).toEqual([
      9,
      10,
      100,
      largestContentId,
    ])
    expect(await deps.linkItems.categoriesOf({ site, kind: 'news', id: 77 }, 9, 2)).toEqual([10, 100])
    expect((await deps.linkItems.countCategoriesOf({ site, kind: 'news', id: 77 }, 9, 10)).count).toBe(3)
    await deps.linkItems.deleteOfObject({ site, kind: 'news', id: 77 }, categories)
    expect(await deps.linkItems.categoriesOf({ site, kind: 'news', id: 77 }, 0, 10)).toEqual([])
  })

  test('do not change when a link is made anew with another displayable', async () => {
    const list = { ...newsOfCategory, category: 51 as CategoryId }
    await deps.linkItems.putMany(list, [{ id: 78, displayable: true }])
    await deps.linkItems.putMany(list, [{ id: 78, displayable: false }])
    expect(await deps.linkItems.categoriesOf({ site, kind: 'news', id: 78 }, 0, 10)).toEqual([51])
    expect((await deps.linkItems.getMany(list, [78])).get(78)).toEqual({ id: 78, displayable: false })
  })
})

describe('content', () => {
  test('comes back as it was stored, its long text apart', async () => {
    const item = newsItem(1, { subject: 'Äpfel "und" <Birnen> 🍐', weight: -3, body: '<p>🍐</p>' })
    await deps.contentItems.putMany(site, 'news', [item], entry)
    const { body, ...summary } = item
    expect(await deps.contentItems.get(site, 'news', 1)).toEqual({ ...summary, siteId: site })
    expect((await deps.contentItems.texts(site, 'news', [1, 2])).get(1)).toBe(body)
  })

  test('is created once', async () => {
    expect(await deps.contentItems.create(site, 'category', { id: 8, name: 'Eight' }, entry)).toBe(true)
    expect(await deps.contentItems.create(site, 'category', { id: 8, name: 'Again' }, entry)).toBe(false)
    expect(await deps.contentItems.get(site, 'category', 8)).toEqual({ id: 8, name: 'Eight' })
    expect(await deps.contentItems.highestId(site, 'category')).toBe(8)
    expect(await deps.contentItems.highestId(site, 'blog')).toBe(0)
  })

  test('of more than one call is read whole', async () => {
    const many = range(1_001, 1_350)
    await deps.contentItems.putMany(
      site,
      'news',
      many.map((id) => newsItem(id)),
      entry,
    )
    expect([...(await deps.contentItems.getMany(site, 'news', many)).keys()].sort()).toEqual(many)
    expect((await deps.contentItems.existing(site, 'news', [...many, 5_000])).size).toBe(many.length)
    expect(ids(await deps.contentItems.list(site, 'news', 1_340, 500))).toEqual(range(1_341, 1_350))
  })
})
