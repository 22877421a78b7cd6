import { expect, test } from 'vitest'
import type { CategoryId } from '../../../lib/core/ids.ts'
import { describeOn, entry, handsOfPorts, ownSite as site } from '../../support/hands.ts'
import { namedCategories, newsItem, newsItems, range } from './some-content.ts'

/** Categories, news items and blogs on both stores. The acceptance cases test everything else. */
describeOn({ kinds: handsOfPorts, subject: 'content' }, (hand, { isSlow }) => {
  const { contents, links } = hand.stores

  const putNews = (ids: readonly number[]) => contents.putMany(site, 'news', newsItems(ids), entry)

  test('12 objects with long texts are all stored', async () => {
    const long = range(1, 12).map((id) => newsItem(id, { body: `${id}${'x'.repeat(350_000)}` }))
    await contents.putMany(site, 'news', long, entry)
    const texts = await contents.texts(site, 'news', range(1, 12))
    expect(long.filter(({ id, body }) => texts.get(id) === body)).toHaveLength(12)
  })

  test.skipIf(isSlow)('1,350 objects are read at once', async () => {
    const many = range(1_001, 2_350)
    const wanted = [...many, 5_000]
    await putNews(many)
    expect([...(await contents.getMany(site, 'news', wanted)).keys()].sort((a, b) => a - b)).toEqual(many)
    expect(await contents.existing(site, 'news', wanted)).toEqual(new Set(many))
    expect((await contents.texts(site, 'news', wanted)).size).toBe(many.length)
  })

  const category = 5 as CategoryId
  const list = () => ({ site, kind: 'news', category }) as const

  test.skipIf(isSlow)('Removing a category also removes its 1,201 links', async () => {
    const many = range(100, 1_300)
    await contents.putMany(site, 'category', namedCategories([category]), entry)
    await putNews(many)
    await links.link(list(), new Map(many.map((id) => [id, true])), entry)
    expect(await contents.remove(site, 'category', category, entry)).toBe(true)
    expect((await links.count(list(), 0, 10_000)).count).toBe(0)
    expect(await contents.get(site, 'category', category)).toBeUndefined()
  })

  test.skipIf(isSlow)('Removing an object also removes its links, however many', async () => {
    const many = range(100, 100 + hand.quickChanges)
    await contents.putMany(site, 'category', namedCategories(many), entry)
    await putNews([1])
    for (const id of many) await links.link({ ...list(), category: id as CategoryId }, new Map([[1, true]]), entry)
    expect(await contents.remove(site, 'news', 1, entry)).toBe(true)
    expect(await contents.remove(site, 'news', 1, entry)).toBe(false)
    expect((await links.countCategoriesOf({ site, kind: 'news', id: 1 }, 0, 10_000)).count).toBe(0)
    expect(await contents.get(site, 'news', 1)).toBeUndefined()
    expect((await contents.texts(site, 'news', [1])).size).toBe(0)
  })
})
