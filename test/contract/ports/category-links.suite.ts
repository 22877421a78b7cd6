import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { LinkList } from '../../../lib/categories/category-links.ts'
import type { CategoryId, SiteId } from '../../../lib/ids.ts'
import type { Stores } from '../../../lib/stores.ts'
import { entry, type Hand, type OpenedHand } from '../../support/hands.ts'
import { blogItem, idsOf, largestContentId, newsItem, range } from './some-content.ts'

type Tested = Pick<Stores, 'contents' | 'links'>

const wish = (ids: readonly number[], displayable?: boolean) => new Map(ids.map((id) => [id, displayable]))

/** What every store of links between categories and objects does, whatever it is made of. */
export const describeCategoryLinks = ({ name, open }: Hand<Tested>): void => {
  let hand: OpenedHand<Tested>
  let contents: Tested['contents']
  let links: Tested['links']
  beforeAll(async () => {
    hand = await open()
    contents = hand.stores.contents
    links = hand.stores.links
  })
  afterAll(() => hand.close())

  /** Each test has a site for itself, with the category 5. */
  let lastSite = 0
  let list: LinkList
  beforeEach(async () => {
    lastSite += 1
    list = { site: lastSite as SiteId, kind: 'news', category: 5 as CategoryId }
    await putCategories([5])
  })

  const putCategories = (ids: readonly number[], site = list.site) =>
    contents.putMany(
      site,
      'category',
      ids.map((id) => ({ id, name: `Category ${id}` })),
      entry,
    )
  const putNews = (ids: readonly number[], site = list.site) =>
    contents.putMany(
      site,
      'news',
      ids.map((id) => newsItem(id)),
      entry,
    )
  const link = (ids: readonly number[], displayable?: boolean, over = list) =>
    links.link(over, wish(ids, displayable), entry)
  const linked = async (over = list) => idsOf(await links.list(over, 0, 10_000))
  const newsOf = (id: number) => ({ site: list.site, kind: 'news', id }) as const

  describe(`the links of a category: ${name}`, () => {
    beforeEach(async () => {
      await putNews([largestContentId, 9, 100, 10])
      await link([largestContentId, 9, 100, 10])
    })

    test('come in order of ids, from behind any of them, the largest included', async () => {
      expect(await linked()).toEqual([9, 10, 100, largestContentId])
      expect(idsOf(await links.list(list, 9, 2))).toEqual([10, 100])
      expect(idsOf(await links.list(list, 100, 10))).toEqual([largestContentId])
      expect(await links.list(list, largestContentId, 10)).toEqual([])
    })

    test('are counted from behind any of them, up to a limit', async () => {
      expect(await links.count(list, 0, 3)).toEqual({ count: 3, last: 100, ended: false })
      expect(await links.count(list, 9, Number.POSITIVE_INFINITY)).toMatchObject({ count: 3, ended: true })
      expect(await links.count(list, largestContentId, 10)).toMatchObject({ count: 0, ended: true })
    })

    test('are not those of another kind, category or site', async () => {
      const others: LinkList[] = [
        { ...list, kind: 'blog' },
        { ...list, category: 50 as CategoryId },
        { ...list, site: (list.site + 1_000) as SiteId },
      ]
      await putCategories([50])
      await putNews([11])
      await contents.putMany(list.site, 'blog', [blogItem(11)], entry)
      await putCategories([5], (list.site + 1_000) as SiteId)
      await putNews([11], (list.site + 1_000) as SiteId)
      for (const other of others) expect(await link([11], undefined, other)).toEqual({ outcome: 'linked' })
      expect(await linked()).not.toContain(11)
      expect(await links.categoriesOf(newsOf(11), 0, 10)).toEqual([50])
      expect(await links.categoriesOf({ ...newsOf(11), kind: 'blog' }, 0, 10)).toEqual([5])
      expect(await links.categoriesOf({ ...newsOf(11), site: (list.site + 1_000) as SiteId }, 0, 10)).toEqual([5])
    })

    test('of a category that is not there are none', async () => {
      const nowhere = { ...list, category: 404 as CategoryId }
      expect(await linked(nowhere)).toEqual([])
      expect(await links.count(nowhere, 0, 10)).toMatchObject({ count: 0, ended: true })
    })
  })

  describe(`the categories of an object: ${name}`, () => {
    test('come in order of ids, however many digits those have', async () => {
      const categories = [largestContentId, 9, 100, 10]
      await putCategories(categories)
      await putNews([77])
      for (const category of categories) await link([77], undefined, { ...list, category: category as CategoryId })
      expect(await links.categoriesOf(newsOf(77), 0, 10)).toEqual([9, 10, 100, largestContentId])
      expect(await links.categoriesOf(newsOf(77), 9, 2)).toEqual([10, 100])
      expect(await links.categoriesOf(newsOf(77), largestContentId, 2)).toEqual([])
      expect(await links.countCategoriesOf(newsOf(77), 9, 10)).toMatchObject({ count: 3, ended: true })
      expect(await links.countCategoriesOf(newsOf(77), 0, 2)).toEqual({ count: 2, last: 10, ended: false })
    })

    test('do not change when a link is made anew with another displayable', async () => {
      await putNews([78])
      await link([78], true)
      await link([78], false)
      expect(await links.categoriesOf(newsOf(78), 0, 10)).toEqual([5])
      expect(await links.list(list, 0, 10)).toEqual([{ id: 78, displayable: false }])
    })
  })

  describe(`linking: ${name}`, () => {
    beforeEach(() => putNews(range(1, 30)))

    test('makes links that everybody sees, displayable unless told otherwise', async () => {
      expect(
        await links.link(
          list,
          new Map([
            [1, undefined],
            [2, false],
            [3, true],
          ]),
          entry,
        ),
      ).toEqual({ outcome: 'linked' })
      expect(await hand.connect().links.list(list, 0, 10)).toEqual([
        { id: 1, displayable: true },
        { id: 2, displayable: false },
        { id: 3, displayable: true },
      ])
    })

    test('again keeps what a link says, unless told otherwise', async () => {
      await links.link(
        list,
        new Map([
          [1, false],
          [2, false],
          [3, true],
        ]),
        entry,
      )
      await links.link(
        list,
        new Map([
          [1, undefined],
          [2, true],
          [3, undefined],
        ]),
        entry,
      )
      expect((await links.list(list, 0, 10)).map(({ displayable }) => displayable)).toEqual([false, true, true])
    })

    test('nothing is fine', async () => {
      expect(await link([])).toEqual({ outcome: 'linked' })
      expect(await links.unlink(list, [], entry)).toBe(true)
    })

    test('changes nothing when objects are unknown, and names all of them', async () => {
      await link([1], false)
      const outcome = await links.link(
        list,
        new Map([
          [1, true],
          [2, true],
          [31, true],
          [40, true],
        ]),
        entry,
      )
      expect(outcome).toEqual({ outcome: 'objects unknown', ids: new Set([31, 40]) })
      expect(await links.list(list, 0, 10)).toEqual([{ id: 1, displayable: false }])
    })

    test('changes nothing when the category is unknown', async () => {
      const nowhere = { ...list, category: 404 as CategoryId }
      expect(await link([1], undefined, nowhere)).toEqual({ outcome: 'category unknown' })
      expect(await links.unlink(nowhere, [1], entry)).toBe(false)
      await putCategories([404])
      expect(await linked(nowhere)).toEqual([])
    })

    test('500 objects makes each link', async () => {
      const many = range(1, 500)
      await putNews(many)
      await link(many)
      expect(await linked()).toEqual(many)
      expect(await links.unlink(list, range(101, 500), entry)).toBe(true)
      expect(await linked()).toEqual(range(1, 100))
    })

    test('is undone by unlinking, whether there is a link or not', async () => {
      await link([1, 2, 3])
      expect(await links.unlink(list, [2, 4, 99], entry)).toBe(true)
      expect(await linked()).toEqual([1, 3])
      expect(await links.categoriesOf(newsOf(2), 0, 10)).toEqual([])
    })

    test('and unlinking change nothing when the request has no time left', async () => {
      await putNews([1, 2, 3])
      await link([1], true)
      const late = () => 0
      const refused = { code: 100503 }
      await expect(links.link(list, wish([1, 2], false), entry, late)).rejects.toMatchObject(refused)
      await expect(links.link(list, wish([3]), entry, late)).rejects.toMatchObject(refused)
      await expect(links.unlink(list, [1], entry, late)).rejects.toMatchObject(refused)
      expect(await links.list(list, 0, 10)).toEqual([{ id: 1, displayable: true }])
    })

    test('one object twice at once, with and without a word about how it is displayed, ends as if one had come after the other', async () => {
      const another = hand.connect()
      const ids = range(1, 12)
      await putNews(ids)
      for (let round = 0; round < 10; round++) {
        await Promise.all([another.links.link(list, wish(ids, false), entry), link(ids)])
        expect(await links.list(list, 0, 100)).toEqual(ids.map((id) => ({ id, displayable: false })))
        await links.unlink(list, ids, entry)
      }
    })

    test('by several at once leaves all links', async () => {
      const writers = [hand.stores, hand.connect(), hand.connect()]
      await Promise.all(
        range(1, 30).map((id) => writers[id % writers.length]?.links.link(list, new Map([[id, true]]), entry)),
      )
      expect(await linked()).toEqual(range(1, 30))
    })
  })

  describe(`linking from the side of an object: ${name}`, () => {
    const categories = [5, 6, 7] as CategoryId[]
    const listOf = (category: number): LinkList => ({ ...list, category: category as CategoryId })
    const linkObject = (ids: readonly number[], displayable?: boolean, object = 1) =>
      links.linkObject(newsOf(object), new Map(ids.map((id) => [id as CategoryId, displayable])), entry)
    const unlinkObject = (ids: readonly number[], object = 1) =>
      links.unlinkObject(newsOf(object), ids as CategoryId[], entry)
    beforeEach(async () => {
      await putCategories(categories)
      await putNews([1, 2])
    })

    test('makes the links that everybody sees from both sides', async () => {
      expect(
        await links.linkObject(
          newsOf(1),
          new Map([
            [5 as CategoryId, undefined],
            [6 as CategoryId, false],
            [7 as CategoryId, true],
          ]),
          entry,
        ),
      ).toEqual({ outcome: 'done' })
      const others = hand.connect().links
      expect(await others.list(listOf(5), 0, 10)).toEqual([{ id: 1, displayable: true }])
      expect(await others.list(listOf(6), 0, 10)).toEqual([{ id: 1, displayable: false }])
      expect(await others.list(listOf(7), 0, 10)).toEqual([{ id: 1, displayable: true }])
      expect(await others.categoriesOf(newsOf(1), 0, 10)).toEqual(categories)
    })

    test('again keeps what a link says, unless told otherwise, from whichever side it was made', async () => {
      await link([1, 2], false)
      await linkObject([5])
      expect(await links.list(list, 0, 10)).toEqual([
        { id: 1, displayable: false },
        { id: 2, displayable: false },
      ])
      await linkObject([5], true)
      expect((await links.list(list, 0, 10)).map(({ displayable }) => displayable)).toEqual([true, false])
    })

    test('changes nothing when categories are unknown, and names all of them', async () => {
      const unknown = { outcome: 'categories unknown', ids: new Set([8, 404]) }
      expect(await linkObject([5, 8, 6, 404])).toEqual(unknown)
      expect(await links.categoriesOf(newsOf(1), 0, 10)).toEqual([])
      await linkObject([5, 6])
      expect(await unlinkObject([5, 8, 404])).toEqual(unknown)
      expect(await links.categoriesOf(newsOf(1), 0, 10)).toEqual([5, 6])
    })

    test('changes nothing when the object is unknown', async () => {
      expect(await linkObject([5, 404], undefined, 99)).toEqual({ outcome: 'object unknown' })
      expect(await unlinkObject([5], 99)).toEqual({ outcome: 'object unknown' })
      await putNews([99])
      expect(await links.categoriesOf(newsOf(99), 0, 10)).toEqual([])
      expect(await linked()).toEqual([])
    })

    test('nothing is fine', async () => {
      expect(await linkObject([])).toEqual({ outcome: 'done' })
      expect(await unlinkObject([])).toEqual({ outcome: 'done' })
    })

    test('and unlinking change nothing when the request has no time left', async () => {
      await linkObject([5])
      const late = () => 0
      const refused = { code: 100503, status: 503 }
      const wanted = new Map([[6 as CategoryId, true]])
      await expect(links.linkObject(newsOf(1), wanted, entry, late)).rejects.toMatchObject(refused)
      await expect(links.unlinkObject(newsOf(1), [5 as CategoryId], entry, late)).rejects.toMatchObject(refused)
      expect(await links.categoriesOf(newsOf(1), 0, 10)).toEqual([5])
    })

    test('is undone by unlinking, whether there is a link or not, and touches no other object', async () => {
      await linkObject([5, 6])
      await linkObject([5], undefined, 2)
      expect(await unlinkObject([5, 7])).toEqual({ outcome: 'done' })
      expect(await links.categoriesOf(newsOf(1), 0, 10)).toEqual([6])
      expect(await linked()).toEqual([2])
    })

    test('is not linking another kind, or on another site', async () => {
      await linkObject([5])
      await contents.putMany(list.site, 'blog', [blogItem(1)], entry)
      expect(await links.categoriesOf({ ...newsOf(1), kind: 'blog' }, 0, 10)).toEqual([])
      expect(await links.unlinkObject({ ...newsOf(1), kind: 'blog' }, [5 as CategoryId], entry)).toEqual({
        outcome: 'done',
      })
      expect(await links.linkObject({ ...newsOf(1), site: (list.site + 1_000) as SiteId }, new Map(), entry)).toEqual({
        outcome: 'object unknown',
      })
      expect(await linked()).toEqual([1])
    })

    test('with more categories than one call of a store takes makes each link', async () => {
      const many = range(1, 120)
      await putCategories(many)
      expect(await linkObject(many)).toEqual({ outcome: 'done' })
      expect(await links.categoriesOf(newsOf(1), 0, 1_000)).toEqual(many)
      await unlinkObject(many.slice(10))
      expect(await links.categoriesOf(newsOf(1), 0, 1_000)).toEqual(range(1, 10))
    })

    test('by several at once, from both sides, leaves all links', async () => {
      await Promise.all([
        linkObject([5, 6]),
        hand.connect().links.linkObject(newsOf(1), new Map([[7 as CategoryId, false]]), entry),
        link([1, 2]),
      ])
      expect(await links.categoriesOf(newsOf(1), 0, 10)).toEqual(categories)
      expect(await linked()).toEqual([1, 2])
    })
  })

  describe(`many links: ${name}`, () => {
    const many = range(1, 2_300)

    test('are listed and counted to the last one', async () => {
      await putNews(many)
      for (let from = 0; from < many.length; from += 500) await link(many.slice(from, from + 500), true)
      expect(await linked()).toEqual(many)
      expect(idsOf(await links.list(list, 100, 1_500))).toEqual(range(101, 1_600))
      expect((await links.count(list, 0, Number.POSITIVE_INFINITY)).count).toBe(2_300)
      expect(await links.count(list, 100, 1_500)).toEqual({ count: 1_500, last: 1_600, ended: false })
    })
  })

  const ids = range(1, 10)
  const gone = 7
  const removals = {
    'the removal of an object': ({ contents }: Tested) => contents.removeObject(newsOf(gone), entry),
    'the removal of the category': ({ contents }: Tested) => contents.removeCategory(list.site, list.category, entry),
  }

  describe.each(Object.entries(removals))(`linking and %s: ${name}`, (_, remove) => {
    test('leave no link to what is gone, at the same time', async () => {
      const another = hand.connect()
      for (let round = 0; round < 25; round++) {
        await putCategories([5])
        await putNews(ids)
        await Promise.all([
          link(ids),
          remove(another),
          another.links.link(list, wish(ids), entry),
          links.linkObject(newsOf(gone), new Map([[list.category, undefined]]), entry),
        ])
        const category = await contents.get(list.site, 'category', list.category)
        const existing = await contents.existing(list.site, 'news', ids)
        const strays = (await linked()).filter((id) => !category || !existing.has(id))
        expect(strays).toEqual([])
        // Whatever was linked too late does not come back with what is made anew.
        await putCategories([5])
        await putNews([gone])
        expect((await linked()).filter((id) => !category || !existing.has(id))).toEqual([])
        await links.unlink(list, ids, entry)
      }
    })

    test('one after the other: what is gone is unknown', async () => {
      await putNews(ids)
      await link(ids)
      await remove(hand.stores)
      expect((await link([gone])).outcome).toMatch(/unknown$/)
      const fromObject = await links.linkObject(newsOf(gone), new Map([[list.category, undefined]]), entry)
      expect(fromObject.outcome).toMatch(/unknown$/)
      expect(await linked()).not.toContain(gone)
    })
  })
}
