import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Content } from '../../../lib/categories/contents.ts'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import { entry, type Hand, type OpenedHand } from '../../support/hands.ts'
import { blogItem, idsOf, largestContentId, newsItem, range } from './some-content.ts'

type Tested = Pick<Stores, 'contents' | 'links'>

/** As it comes back: its long text stays behind, and the site is known. */
const summaryOf = ({ body: _, ...members }: Content, siteId: SiteId) => ({ ...members, siteId })

/** What every store of categories, news items and blogs does, whatever it is made of. */
export const describeContents = ({ name, open }: Hand<Tested>): void => {
  let hand: OpenedHand<Tested>
  let contents: Tested['contents']
  beforeAll(async () => {
    hand = await open()
    contents = hand.stores.contents
  })
  afterAll(() => hand.close())

  /** Each test has a site for itself. */
  let lastSite = 0
  let site: SiteId
  beforeEach(() => {
    lastSite += 1
    site = lastSite as SiteId
  })

  const putNews = (ids: readonly number[]) =>
    contents.putMany(
      site,
      'news',
      ids.map((id) => newsItem(id)),
      entry,
    )
  const news = (id: number) => ({ site, kind: 'news', id }) as const

  describe(`content: ${name}`, () => {
    test('comes back as it was stored, its long text apart', async () => {
      const item = newsItem(1, { subject: `Äpfel "und" 'Birnen' \\ <🍐> \u{ffff}`, weight: -3, body: '<p>🍐</p>' })
      await contents.putMany(site, 'news', [item], entry)
      expect(await contents.get(site, 'news', 1)).toEqual(summaryOf(item, site))
      expect(await hand.connect().contents.get(site, 'news', 1)).toEqual(summaryOf(item, site))
      expect([...(await contents.getMany(site, 'news', [1])).values()]).toEqual([summaryOf(item, site)])
      expect(await contents.texts(site, 'news', [1, 2])).toEqual(new Map([[1, item['body']]]))
    })

    test('has a state with a new name after each change, whoever made it, and with the same one until then; or none at all', async () => {
      const names: (string | undefined)[] = [await contents.state()]
      const another = hand.connect()
      const link = { site, kind: 'news', category: 5 as CategoryId } as const
      const changes: readonly (() => Promise<unknown>)[] = [
        () => contents.putMany(site, 'category', [{ id: 5, name: 'Five' }], entry),
        () => another.contents.putMany(site, 'news', [newsItem(1)], entry),
        () => hand.stores.links.link(link, new Map([[1, true]]), entry),
        () => another.links.unlink(link, [1], entry),
        () => another.contents.removeCategory(site, link.category, entry),
        () => contents.removeObject(news(1), entry),
      ]
      for (const change of changes) {
        await change()
        names.push(await contents.state())
        await contents.get(site, 'news', 1)
        expect(await contents.state()).toBe(names.at(-1))
      }
      expect(new Set(names).size).toBe(names[0] === undefined ? 1 : names.length)
    })

    test('of a kind without long texts has none', async () => {
      await contents.putMany(site, 'blog', [blogItem(1)], entry)
      expect(await contents.get(site, 'blog', 1)).toEqual({ ...blogItem(1), siteId: site })
      expect((await contents.texts(site, 'blog', [1])).size).toBe(0)
    })

    test('is not that of another kind, id or site', async () => {
      await putNews([1])
      expect(await contents.get(site, 'blog', 1)).toBeUndefined()
      expect(await contents.get(site, 'category', 1)).toBeUndefined()
      expect(await contents.get(site, 'news', 2)).toBeUndefined()
      expect(await contents.get((site + 1_000) as SiteId, 'news', 1)).toBeUndefined()
      expect((await contents.texts((site + 1_000) as SiteId, 'news', [1])).size).toBe(0)
    })

    test('is created once, even when several create it at once', async () => {
      const made = await Promise.all(
        range(1, 10).map((n) => contents.create(site, 'category', { id: 8, name: `Name ${n}` }, entry)),
      )
      expect(made.filter(Boolean)).toHaveLength(1)
      const first = await contents.get(site, 'category', 8)
      expect(await contents.create(site, 'category', { id: 8, name: 'Again' }, entry)).toBe(false)
      expect(await contents.get(site, 'category', 8)).toEqual(first)
    })

    test('is created with its text, and a second one of the same id changes neither', async () => {
      expect(await contents.create(site, 'news', newsItem(3), entry)).toBe(true)
      expect(await contents.create(site, 'news', newsItem(3, { body: '<p>Again</p>' }), entry)).toBe(false)
      expect(await contents.get(site, 'news', 3)).toEqual(summaryOf(newsItem(3), site))
      expect((await contents.texts(site, 'news', [3])).get(3)).toBe('<p>Text 3</p>')
    })

    test('is replaced by what is put in its place, its text included', async () => {
      await putNews([1])
      const other = newsItem(1, { subject: 'Other', body: '<p>Other</p>' })
      await contents.putMany(site, 'news', [other], entry)
      expect(await contents.get(site, 'news', 1)).toEqual(summaryOf(other, site))
      expect((await contents.texts(site, 'news', [1])).get(1)).toBe('<p>Other</p>')
    })

    test('keeps its links when it is replaced', async () => {
      const list = { site, kind: 'news', category: 5 as CategoryId } as const
      await contents.putMany(site, 'category', [{ id: 5, name: 'Five' }], entry)
      await putNews([1])
      await hand.stores.links.link(list, new Map([[1, true]]), entry)
      await putNews([1])
      await contents.putMany(site, 'category', [{ id: 5, name: 'Cinq' }], entry)
      expect(idsOf(await hand.stores.links.list(list, 0, 10))).toEqual([1])
    })

    test('takes the least and the largest id', async () => {
      await putNews([1, largestContentId])
      expect(idsOf(await contents.list(site, 'news', 0, 10))).toEqual([1, largestContentId])
      expect(await contents.list(site, 'news', largestContentId, 10)).toEqual([])
      expect(await contents.highestId(site, 'news')).toBe(largestContentId)
    })

    test('has a highest id for each kind, 0 when there is none', async () => {
      await putNews([9, 10, 2])
      expect(await contents.highestId(site, 'news')).toBe(10)
      expect(await contents.highestId(site, 'blog')).toBe(0)
    })

    test('is all stored when its texts are long', async () => {
      const long = range(1, 12).map((id) => newsItem(id, { body: `${id}${'x'.repeat(350_000)}` }))
      await contents.putMany(site, 'news', long, entry)
      const texts = await contents.texts(site, 'news', range(1, 12))
      expect(long.filter(({ id, body }) => texts.get(id) === body)).toHaveLength(12)
    })
  })

  describe(`much content: ${name}`, () => {
    const many = range(1_001, 2_350)
    const large = 1_000_000 as SiteId
    beforeAll(() =>
      contents.putMany(
        large,
        'news',
        many.map((id) => newsItem(id)),
        entry,
      ),
    )

    test('is read whole', async () => {
      const wanted = [...many, 5_000]
      expect([...(await contents.getMany(large, 'news', wanted)).keys()].sort((a, b) => a - b)).toEqual(many)
      expect(await contents.existing(large, 'news', wanted)).toEqual(new Set(many))
      expect((await contents.texts(large, 'news', wanted)).size).toBe(many.length)
    })

    test('is listed in order of ids, from behind any of them, up to a limit', async () => {
      expect(idsOf(await contents.list(large, 'news', 0, 20_001))).toEqual(many)
      expect(idsOf(await contents.list(large, 'news', 2_340, 500))).toEqual(range(2_341, 2_350))
      expect(idsOf(await contents.list(large, 'news', 0, 1_200))).toEqual(range(1_001, 2_200))
      const [first] = await contents.list(large, 'news', 1_004, 1)
      expect(first?.content).toEqual(summaryOf(newsItem(1_005), large))
    })

    test('is counted from behind any of it, up to a limit', async () => {
      expect(await contents.count(large, 'news', 0, Number.POSITIVE_INFINITY)).toMatchObject({
        count: many.length,
        ended: true,
      })
      expect(await contents.count(large, 'news', 1_100, 1_100)).toEqual({ count: 1_100, last: 2_200, ended: false })
      expect(await contents.count(large, 'blog', 0, 10)).toMatchObject({ count: 0, ended: true })
    })
  })

  describe(`removing content: ${name}`, () => {
    const category = 5 as CategoryId
    const list = () => ({ site, kind: 'news', category }) as const

    beforeEach(async () => {
      await contents.putMany(
        site,
        'category',
        [
          { id: 5, name: 'Five' },
          { id: 6, name: 'Six' },
        ],
        entry,
      )
      await putNews(range(1, 30))
      await contents.putMany(site, 'blog', [blogItem(7)], entry)
      await hand.stores.links.link(list(), new Map(range(1, 30).map((id) => [id, undefined])), entry)
      await hand.stores.links.link({ ...list(), kind: 'blog' }, new Map([[7, undefined]]), entry)
    })

    test('takes a news item with its text and its links, and nothing else', async () => {
      expect(await contents.removeObject(news(7), entry)).toBe(true)
      expect(await contents.get(site, 'news', 7)).toBeUndefined()
      expect((await contents.texts(site, 'news', [7])).size).toBe(0)
      expect((await contents.existing(site, 'news', [7])).size).toBe(0)
      expect(idsOf(await hand.stores.links.list(list(), 0, 100))).toEqual(range(1, 30).filter((id) => id !== 7))
      expect(await contents.get(site, 'blog', 7)).toBeDefined()
      expect(idsOf(await hand.stores.links.list({ ...list(), kind: 'blog' }, 0, 100))).toEqual([7])
    })

    test('takes a category with its links of every kind; the objects stay', async () => {
      expect(await contents.removeCategory(site, category, entry)).toBe(true)
      expect(await contents.get(site, 'category', category)).toBeUndefined()
      expect(await hand.stores.links.categoriesOf(news(7), 0, 10)).toEqual([])
      expect(await hand.stores.links.categoriesOf({ ...news(7), kind: 'blog' }, 0, 10)).toEqual([])
      expect((await contents.existing(site, 'news', range(1, 30))).size).toBe(30)
      expect(await contents.get(site, 'category', 6)).toBeDefined()
    })

    test('leaves no links behind for one that is made anew', async () => {
      await contents.removeCategory(site, category, entry)
      await contents.removeObject(news(8), entry)
      await contents.create(site, 'category', { id: 5, name: 'Again' }, entry)
      await putNews([8])
      expect(await hand.stores.links.list(list(), 0, 100)).toEqual([])
      expect(await hand.stores.links.categoriesOf(news(8), 0, 10)).toEqual([])
    })

    test('tells when there is nothing to remove', async () => {
      expect(await contents.removeObject(news(31), entry)).toBe(false)
      expect(await contents.removeCategory(site, 7 as CategoryId, entry)).toBe(false)
      expect(await contents.removeObject(news(7), entry)).toBe(true)
      expect(await contents.removeObject(news(7), entry)).toBe(false)
    })

    test('takes the many links of a category along', async () => {
      const many = range(100, 1_300)
      await putNews(many)
      await hand.stores.links.link(list(), new Map(many.map((id) => [id, true])), entry)
      expect(await contents.removeCategory(site, category, entry)).toBe(true)
      expect((await hand.stores.links.count(list(), 0, 10_000)).count).toBe(0)
      expect(await contents.get(site, 'category', category)).toBeUndefined()
    })

    test('takes the many links of an object along', async () => {
      const many = range(100, 100 + hand.quickChanges)
      const categories = many.map((id) => ({ id, name: `Category ${id}` }))
      await contents.putMany(site, 'category', categories, entry)
      for (const id of many) {
        await hand.stores.links.link({ ...list(), category: id as CategoryId }, new Map([[1, true]]), entry)
      }
      expect(await contents.removeObject(news(1), entry)).toBe(true)
      expect((await hand.stores.links.countCategoriesOf(news(1), 0, 10_000)).count).toBe(0)
      expect(await contents.get(site, 'news', 1)).toBeUndefined()
    })
  })
}
