import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Content } from '../../../lib/categories/contents.ts'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import { describeOn, entry, handsOfPorts } from '../../support/hands.ts'
import { newsItem, newsItems, range } from './some-content.ts'

/** A stored object as it appears in a list: with its site, and without its long text. */
const summaryOf = ({ body: _, ...members }: Content, siteId: SiteId) => ({ ...members, siteId })

/** Categories, news items and blogs on both stores. The acceptance cases test everything else. */
describeOn({ kinds: handsOfPorts, subject: 'content' }, (hand, { isSlow }) => {
  const { contents } = hand.stores

  /** Each test has its own site. */
  let site = 0 as SiteId
  beforeEach(() => {
    site = (site + 1) as SiteId
  })

  const putNews = (ids: readonly number[]) => contents.putMany(site, 'news', newsItems(ids), entry)
  const news = (id: number) => ({ site, kind: 'news', id }) as const

  test('An object and its long text are read back as they were written', async () => {
    const item = newsItem(1, { subject: `Äpfel "und" 'Birnen' \\ <🍐> \u{ffff}`, weight: -3, body: '<p>🍐</p>' })
    await contents.putMany(site, 'news', [item], entry)
    expect(await contents.get(site, 'news', 1)).toEqual(summaryOf(item, site))
    expect(await hand.connect().contents.get(site, 'news', 1)).toEqual(summaryOf(item, site))
    expect([...(await contents.getMany(site, 'news', [1])).values()]).toEqual([summaryOf(item, site)])
    expect(await contents.texts(site, 'news', [1, 2])).toEqual(new Map([[1, item['body']]]))
  })

  test('12 objects with long texts are all stored', async () => {
    const long = range(1, 12).map((id) => newsItem(id, { body: `${id}${'x'.repeat(350_000)}` }))
    await contents.putMany(site, 'news', long, entry)
    const texts = await contents.texts(site, 'news', range(1, 12))
    expect(long.filter(({ id, body }) => texts.get(id) === body)).toHaveLength(12)
  })

  describe.skipIf(isSlow)('much content', () => {
    const many = range(1_001, 2_350)
    const large = 1_000_000 as SiteId
    beforeAll(() => contents.putMany(large, 'news', newsItems(many), entry))

    test('1,350 objects are read at once', async () => {
      const wanted = [...many, 5_000]
      expect([...(await contents.getMany(large, 'news', wanted)).keys()].sort((a, b) => a - b)).toEqual(many)
      expect(await contents.existing(large, 'news', wanted)).toEqual(new Set(many))
      expect((await contents.texts(large, 'news', wanted)).size).toBe(many.length)
    })
  })

  describe('removing content', () => {
    const category = 5 as CategoryId
    const list = () => ({ site, kind: 'news', category }) as const

    beforeEach(async () => {
      await contents.putMany(site, 'category', [{ id: 5, name: 'Five' }], entry)
      await putNews([1])
    })

    test('A new object does not get the links of a removed object with the same id', async () => {
      await hand.stores.links.link(list(), new Map([[1, true]]), entry)
      expect(await contents.remove(site, 'news', 1, entry)).toBe(true)
      expect(await contents.remove(site, 'news', 1, entry)).toBe(false)
      expect((await contents.texts(site, 'news', [1])).size).toBe(0)
      await putNews([1])
      expect(await hand.stores.links.list(list(), 0, 100)).toEqual([])
      expect(await hand.stores.links.categoriesOf(news(1), 0, 10)).toEqual([])
    })

    test.skipIf(isSlow)('Removing a category also removes its 1,201 links', async () => {
      const many = range(100, 1_300)
      await putNews(many)
      await hand.stores.links.link(list(), new Map(many.map((id) => [id, true])), entry)
      expect(await contents.remove(site, 'category', category, entry)).toBe(true)
      expect((await hand.stores.links.count(list(), 0, 10_000)).count).toBe(0)
      expect(await contents.get(site, 'category', category)).toBeUndefined()
    })

    test.skipIf(isSlow)('Removing an object also removes its links, however many', async () => {
      const many = range(100, 100 + hand.quickChanges)
      const categories = many.map((id) => ({ id, name: `Category ${id}` }))
      await contents.putMany(site, 'category', categories, entry)
      for (const id of many) {
        await hand.stores.links.link({ ...list(), category: id as CategoryId }, new Map([[1, true]]), entry)
      }
      expect(await contents.remove(site, 'news', 1, entry)).toBe(true)
      expect((await hand.stores.links.countCategoriesOf(news(1), 0, 10_000)).count).toBe(0)
      expect(await contents.get(site, 'news', 1)).toBeUndefined()
    })
  })
})
