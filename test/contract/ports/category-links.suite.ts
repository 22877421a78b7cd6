import { beforeEach, describe, expect, test } from 'vitest'
import type { LinkList } from '../../../lib/categories/category-links.ts'
import { createDeadline } from '../../../lib/core/deadline.ts'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import { entry, type Hand } from '../../support/hands.ts'
import { openLinks, type Tested, wish } from './linked-site.ts'
import { blogItem, idsOf, largestContentId, range } from './some-content.ts'

/** What every store of links between categories and objects does, whatever it is made of: seen from the category. */
export const describeCategoryLinks = (hand: Hand<Tested>): void => {
  const at = openLinks(hand)
  const { name } = hand
  const { putCategories, putNews, link, linked, newsOf } = at

  describe(`the links of a category: ${name}`, () => {
    beforeEach(async () => {
      await putNews([largestContentId, 9, 100, 10])
      await link([largestContentId, 9, 100, 10])
    })

    test('come in order of ids, from behind any of them, the largest included', async () => {
      expect(await linked()).toEqual([9, 10, 100, largestContentId])
      expect(idsOf(await at.links.list(at.list, 9, 2))).toEqual([10, 100])
      expect(idsOf(await at.links.list(at.list, 100, 10))).toEqual([largestContentId])
      expect(await at.links.list(at.list, largestContentId, 10)).toEqual([])
    })

    test('are counted from behind any of them, up to a limit', async () => {
      expect(await at.links.count(at.list, 0, 3)).toEqual({ count: 3, last: 100, ended: false })
      expect(await at.links.count(at.list, 9, Number.POSITIVE_INFINITY)).toMatchObject({ count: 3, ended: true })
      expect(await at.links.count(at.list, largestContentId, 10)).toMatchObject({ count: 0, ended: true })
    })

    test('are not those of another kind, category or site', async () => {
      const others: LinkList[] = [
        { ...at.list, kind: 'blog' },
        { ...at.list, category: 50 as CategoryId },
        { ...at.list, site: (at.list.site + 1_000) as SiteId },
      ]
      await putCategories([50])
      await putNews([11])
      await at.contents.putMany(at.list.site, 'blog', [blogItem(11)], entry)
      await putCategories([5], (at.list.site + 1_000) as SiteId)
      await putNews([11], (at.list.site + 1_000) as SiteId)
      for (const other of others) expect(await link([11], undefined, other)).toEqual({ outcome: 'linked' })
      expect(await linked()).not.toContain(11)
      expect(await at.links.categoriesOf(newsOf(11), 0, 10)).toEqual([50])
      expect(await at.links.categoriesOf({ ...newsOf(11), kind: 'blog' }, 0, 10)).toEqual([5])
      expect(await at.links.categoriesOf({ ...newsOf(11), site: (at.list.site + 1_000) as SiteId }, 0, 10)).toEqual([5])
    })

    test('of a category that is not there are none', async () => {
      const nowhere = { ...at.list, category: 404 as CategoryId }
      expect(await linked(nowhere)).toEqual([])
      expect(await at.links.count(nowhere, 0, 10)).toMatchObject({ count: 0, ended: true })
    })
  })

  describe(`the categories of an object: ${name}`, () => {
    test('come in order of ids, however many digits those have', async () => {
      const categories = [largestContentId, 9, 100, 10]
      await putCategories(categories)
      await putNews([77])
      for (const category of categories) await link([77], undefined, { ...at.list, category: category as CategoryId })
      expect(await at.links.categoriesOf(newsOf(77), 0, 10)).toEqual([9, 10, 100, largestContentId])
      expect(await at.links.categoriesOf(newsOf(77), 9, 2)).toEqual([10, 100])
      expect(await at.links.categoriesOf(newsOf(77), largestContentId, 2)).toEqual([])
      expect(await at.links.countCategoriesOf(newsOf(77), 9, 10)).toMatchObject({ count: 3, ended: true })
      expect(await at.links.countCategoriesOf(newsOf(77), 0, 2)).toEqual({ count: 2, last: 10, ended: false })
    })

    test('do not change when a link is made anew with another displayable', async () => {
      await putNews([78])
      await link([78], true)
      await link([78], false)
      expect(await at.links.categoriesOf(newsOf(78), 0, 10)).toEqual([5])
      expect(await at.links.list(at.list, 0, 10)).toEqual([{ id: 78, displayable: false }])
    })
  })

  describe(`linking: ${name}`, () => {
    beforeEach(() => putNews(range(1, 30)))

    test('makes links that everybody sees, displayable unless told otherwise', async () => {
      expect(
        await at.links.link(
          at.list,
          new Map([
            [1, undefined],
            [2, false],
            [3, true],
          ]),
          entry,
        ),
      ).toEqual({ outcome: 'linked' })
      expect(await at.hand.connect().links.list(at.list, 0, 10)).toEqual([
        { id: 1, displayable: true },
        { id: 2, displayable: false },
        { id: 3, displayable: true },
      ])
    })

    test('again keeps what a link says, unless told otherwise', async () => {
      await at.links.link(
        at.list,
        new Map([
          [1, false],
          [2, false],
          [3, true],
        ]),
        entry,
      )
      await at.links.link(
        at.list,
        new Map([
          [1, undefined],
          [2, true],
          [3, undefined],
        ]),
        entry,
      )
      expect((await at.links.list(at.list, 0, 10)).map(({ displayable }) => displayable)).toEqual([false, true, true])
    })

    test('nothing is fine', async () => {
      expect(await link([])).toEqual({ outcome: 'linked' })
      expect(await at.links.unlink(at.list, [], entry)).toBe(true)
    })

    test('changes nothing when objects are unknown, and names all of them', async () => {
      await link([1], false)
      const outcome = await at.links.link(
        at.list,
        new Map([
          [1, true],
          [2, true],
          [31, true],
          [40, true],
        ]),
        entry,
      )
      expect(outcome).toEqual({ outcome: 'objects unknown', ids: new Set([31, 40]) })
      expect(await at.links.list(at.list, 0, 10)).toEqual([{ id: 1, displayable: false }])
    })

    test('changes nothing when the category is unknown', async () => {
      const nowhere = { ...at.list, category: 404 as CategoryId }
      expect(await link([1], undefined, nowhere)).toEqual({ outcome: 'category unknown' })
      expect(await at.links.unlink(nowhere, [1], entry)).toBe(false)
      await putCategories([404])
      expect(await linked(nowhere)).toEqual([])
    })

    test('230 objects makes each link', async () => {
      const many = range(1, 230)
      await putNews(many)
      await link(many)
      expect(await linked()).toEqual(many)
      expect(await at.links.unlink(at.list, range(101, 230), entry)).toBe(true)
      expect(await linked()).toEqual(range(1, 100))
    })

    test('is undone by unlinking, whether there is a link or not', async () => {
      await link([1, 2, 3])
      expect(await at.links.unlink(at.list, [2, 4, 99], entry)).toBe(true)
      expect(await linked()).toEqual([1, 3])
      expect(await at.links.categoriesOf(newsOf(2), 0, 10)).toEqual([])
    })

    test('and unlinking change nothing when the request has no time left', async () => {
      await putNews([1, 2, 3])
      await link([1], true)
      const late = createDeadline(() => 0)
      const refused = { code: 100503 }
      await expect(at.links.link(at.list, wish([1, 2], false), entry, late)).rejects.toMatchObject(refused)
      await expect(at.links.link(at.list, wish([3]), entry, late)).rejects.toMatchObject(refused)
      await expect(at.links.unlink(at.list, [1], entry, late)).rejects.toMatchObject(refused)
      expect(await at.links.list(at.list, 0, 10)).toEqual([{ id: 1, displayable: true }])
    })

    test('one object twice at once, with and without a word about how it is displayed, ends as if one had come after the other', async () => {
      const another = at.hand.connect()
      const ids = range(1, 12)
      await putNews(ids)
      for (let round = 0; round < 10; round++) {
        await Promise.all([another.links.link(at.list, wish(ids, false), entry), link(ids)])
        expect(await at.links.list(at.list, 0, 100)).toEqual(ids.map((id) => ({ id, displayable: false })))
        await at.links.unlink(at.list, ids, entry)
      }
    })

    test('by several at once leaves all links', async () => {
      const writers = [at.hand.stores, at.hand.connect(), at.hand.connect()]
      await Promise.all(
        range(1, 30).map((id) => writers[id % writers.length]?.links.link(at.list, new Map([[id, true]]), entry)),
      )
      expect(await linked()).toEqual(range(1, 30))
    })
  })

  describe(`many links: ${name}`, () => {
    const many = range(1, 1_200)

    test('are listed and counted to the last one', async () => {
      await putNews(many)
      for (let from = 0; from < many.length; from += 500) await link(many.slice(from, from + 500), true)
      expect(await linked()).toEqual(many)
      expect(idsOf(await at.links.list(at.list, 100, 1_050))).toEqual(range(101, 1_150))
      expect((await at.links.count(at.list, 0, Number.POSITIVE_INFINITY)).count).toBe(1_200)
      expect(await at.links.count(at.list, 100, 1_050)).toEqual({ count: 1_050, last: 1_150, ended: false })
    })
  })
}
