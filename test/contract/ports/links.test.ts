import { beforeEach, expect, test } from 'vitest'
import type { LinkList } from '../../../lib/categories/category-links.ts'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import { createDeadline } from '../../../lib/core/time.ts'
import { describeOn, entry, handsOfPorts } from '../../support/hands.ts'
import { idsOf, largestContentId, namedCategories, newsItems, range } from './some-content.ts'

const linksTo = (ids: readonly number[], displayable?: boolean) => new Map(ids.map((id) => [id, displayable]))
const late = createDeadline(() => 0)

/** Batches of links, and changes without time left, on both stores. Other tests show everything else. */
describeOn({ kinds: handsOfPorts, subject: 'links' }, (hand, { isSlow }) => {
  const { links, contents } = hand.stores

  /** The news of category 5. Each test has its own site. */
  let list: LinkList = { site: 0 as SiteId, kind: 'news', category: 5 as CategoryId }
  beforeEach(async () => {
    list = { ...list, site: (list.site + 1) as SiteId }
    await putCategories([5])
  })

  const putCategories = (ids: readonly number[]) => contents.putMany(list.site, 'category', namedCategories(ids), entry)
  const putNews = (ids: readonly number[]) => contents.putMany(list.site, 'news', newsItems(ids), entry)
  const link = (ids: readonly number[], displayable?: boolean) => links.link(list, linksTo(ids, displayable), entry)
  const linked = async () => idsOf(await links.list(list, 0, 10_000))
  const newsOf = (id: number) => ({ site: list.site, kind: 'news', id }) as const

  test('Nothing follows the link with the largest id', async () => {
    await putCategories([largestContentId])
    await putNews([largestContentId])
    await link([largestContentId])
    await links.link(newsOf(largestContentId), linksTo([largestContentId]), entry)
    expect(await linked()).toEqual([largestContentId])
    // A caller can write a cursor with any number.
    for (const after of [largestContentId, 99_999_999_995, Number.MAX_SAFE_INTEGER]) {
      expect(await links.list(list, after, 10)).toEqual([])
      expect(await links.categoriesOf(newsOf(largestContentId), after, 10)).toEqual([])
    }
  })

  test.skipIf(isSlow)('All of 1,200 links are made, listed, counted and removed', async () => {
    const many = range(1, 1_200)
    await putNews(many)
    for (let from = 0; from < many.length; from += 500) await link(many.slice(from, from + 500), true)
    expect(await linked()).toEqual(many)
    expect(idsOf(await links.list(list, 100, 1_050))).toEqual(range(101, 1_150))
    expect((await links.count(list, 0, Number.POSITIVE_INFINITY)).count).toBe(1_200)
    expect(await links.count(list, 100, 1_050)).toEqual({ count: 1_050, last: 1_150, ended: false })
    expect(await links.unlink(list, range(101, 600), entry)).toEqual({ outcome: 'done' })
    expect(await linked()).toEqual([...range(1, 100), ...range(601, 1_200)])
  })

  test('A request without time left changes no link', async () => {
    await putNews([1, 2, 3])
    await putCategories([6])
    await link([1], true)
    const own = list.category
    for (const change of [
      () => links.link(list, linksTo([1, 2], false), entry, late),
      () => links.link(list, linksTo([3]), entry, late),
      () => links.unlink(list, [1], entry, late),
      () => links.link(newsOf(1), new Map([[6, true]]), entry, late),
      () => links.unlink(newsOf(1), [own], entry, late),
    ]) {
      await expect(change()).rejects.toMatchObject({ code: 100503, status: 503 })
    }
    expect(await links.list(list, 0, 10)).toEqual([{ id: 1, displayable: true }])
    expect(await links.categoriesOf(newsOf(1), 0, 10)).toEqual([own])
  })
})
