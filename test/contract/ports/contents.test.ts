import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import { describeOn, entry, handsOfPorts, ownSite as site } from '../../support/hands.ts'
import { newsItem, newsItems, range } from './some-content.ts'

/** Categories, news items and blogs on both stores. The acceptance cases test everything else. */
describeOn({ kinds: handsOfPorts, subject: 'content' }, (hand, { isSlow }) => {
  const { contents } = hand.stores

  const putNews = (ids: readonly number[]) => contents.putMany(site, 'news', newsItems(ids), entry)
  const news = (id: number) => ({ site, kind: 'news', id }) as const

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
      expect(await contents.remove(site, 'news', 1, entry)).toBe(false)
      expect((await hand.stores.links.countCategoriesOf(news(1), 0, 10_000)).count).toBe(0)
      expect(await contents.get(site, 'news', 1)).toBeUndefined()
      expect((await contents.texts(site, 'news', [1])).size).toBe(0)
    })
  })
})
