import { beforeEach, describe, expect, test } from 'vitest'
import type { LinkList } from '../../../lib/categories/category-links.ts'
import { createDeadline } from '../../../lib/core/deadline.ts'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import { entry, type Hand } from '../../support/hands.ts'
import { openLinks, type Tested } from './linked-site.ts'
import { blogItem, range } from './some-content.ts'

/** What every store of links does when they are made and taken away from the side of an object. */
export const describeObjectLinks = (hand: Hand<Tested>): void => {
  const at = openLinks(hand)
  const { name } = hand
  const { putCategories, putNews, link, linked, newsOf } = at

  describe(`linking from the side of an object: ${name}`, () => {
    const categories = [5, 6, 7] as CategoryId[]
    const listOf = (category: number): LinkList => ({ ...at.list, category: category as CategoryId })
    const linkObject = (ids: readonly number[], displayable?: boolean, object = 1) =>
      at.links.linkObject(newsOf(object), new Map(ids.map((id) => [id as CategoryId, displayable])), entry)
    const unlinkObject = (ids: readonly number[], object = 1) =>
      at.links.unlinkObject(newsOf(object), ids as CategoryId[], entry)
    beforeEach(async () => {
      await putCategories(categories)
      await putNews([1, 2])
    })

    test('makes the links that everybody sees from both sides', async () => {
      expect(
        await at.links.linkObject(
          newsOf(1),
          new Map([
            [5 as CategoryId, undefined],
            [6 as CategoryId, false],
            [7 as CategoryId, true],
          ]),
          entry,
        ),
      ).toEqual({ outcome: 'done' })
      const others = at.hand.connect().links
      expect(await others.list(listOf(5), 0, 10)).toEqual([{ id: 1, displayable: true }])
      expect(await others.list(listOf(6), 0, 10)).toEqual([{ id: 1, displayable: false }])
      expect(await others.list(listOf(7), 0, 10)).toEqual([{ id: 1, displayable: true }])
      expect(await others.categoriesOf(newsOf(1), 0, 10)).toEqual(categories)
    })

    test('again keeps what a link says, unless told otherwise, from whichever side it was made', async () => {
      await link([1, 2], false)
      await linkObject([5])
      expect(await at.links.list(at.list, 0, 10)).toEqual([
        { id: 1, displayable: false },
        { id: 2, displayable: false },
      ])
      await linkObject([5], true)
      expect((await at.links.list(at.list, 0, 10)).map(({ displayable }) => displayable)).toEqual([true, false])
    })

    test('changes nothing when categories are unknown, and names all of them', async () => {
      const unknown = { outcome: 'categories unknown', ids: new Set([8, 404]) }
      expect(await linkObject([5, 8, 6, 404])).toEqual(unknown)
      expect(await at.links.categoriesOf(newsOf(1), 0, 10)).toEqual([])
      await linkObject([5, 6])
      expect(await unlinkObject([5, 8, 404])).toEqual(unknown)
      expect(await at.links.categoriesOf(newsOf(1), 0, 10)).toEqual([5, 6])
    })

    test('changes nothing when the object is unknown', async () => {
      expect(await linkObject([5, 404], undefined, 99)).toEqual({ outcome: 'object unknown' })
      expect(await unlinkObject([5], 99)).toEqual({ outcome: 'object unknown' })
      await putNews([99])
      expect(await at.links.categoriesOf(newsOf(99), 0, 10)).toEqual([])
      expect(await linked()).toEqual([])
    })

    test('nothing is fine', async () => {
      expect(await linkObject([])).toEqual({ outcome: 'done' })
      expect(await unlinkObject([])).toEqual({ outcome: 'done' })
    })

    test('and unlinking change nothing when the request has no time left', async () => {
      await linkObject([5])
      const late = createDeadline(() => 0)
      const refused = { code: 100503, status: 503 }
      const wanted = new Map([[6 as CategoryId, true]])
      await expect(at.links.linkObject(newsOf(1), wanted, entry, late)).rejects.toMatchObject(refused)
      await expect(at.links.unlinkObject(newsOf(1), [5 as CategoryId], entry, late)).rejects.toMatchObject(refused)
      expect(await at.links.categoriesOf(newsOf(1), 0, 10)).toEqual([5])
    })

    test('is undone by unlinking, whether there is a link or not, and touches no other object', async () => {
      await linkObject([5, 6])
      await linkObject([5], undefined, 2)
      expect(await unlinkObject([5, 7])).toEqual({ outcome: 'done' })
      expect(await at.links.categoriesOf(newsOf(1), 0, 10)).toEqual([6])
      expect(await linked()).toEqual([2])
    })

    test('is not linking another kind, or on another site', async () => {
      await linkObject([5])
      await at.contents.putMany(at.list.site, 'blog', [blogItem(1)], entry)
      expect(await at.links.categoriesOf({ ...newsOf(1), kind: 'blog' }, 0, 10)).toEqual([])
      expect(await at.links.unlinkObject({ ...newsOf(1), kind: 'blog' }, [5 as CategoryId], entry)).toEqual({
        outcome: 'done',
      })
      expect(
        await at.links.linkObject({ ...newsOf(1), site: (at.list.site + 1_000) as SiteId }, new Map(), entry),
      ).toEqual({
        outcome: 'object unknown',
      })
      expect(await linked()).toEqual([1])
    })

    test('with more categories than one call of a store takes makes each link', async () => {
      const many = range(1, 120)
      await putCategories(many)
      expect(await linkObject(many)).toEqual({ outcome: 'done' })
      expect(await at.links.categoriesOf(newsOf(1), 0, 1_000)).toEqual(many)
      await unlinkObject(many.slice(10))
      expect(await at.links.categoriesOf(newsOf(1), 0, 1_000)).toEqual(range(1, 10))
    })

    test('by several at once, from both sides, leaves all links', async () => {
      await Promise.all([
        linkObject([5, 6]),
        at.hand.connect().links.linkObject(newsOf(1), new Map([[7 as CategoryId, false]]), entry),
        link([1, 2]),
      ])
      expect(await at.links.categoriesOf(newsOf(1), 0, 10)).toEqual(categories)
      expect(await linked()).toEqual([1, 2])
    })
  })
}
