import { describe, expect, test } from 'vitest'
import { entry, type Hand } from '../../support/hands.ts'
import { openLinks, type Tested, wish } from './linked-site.ts'
import { range } from './some-content.ts'

/** What becomes of links while what they lead to is removed. */
export const describeLinksAndRemovals = (hand: Hand<Tested>): void => {
  const at = openLinks(hand)
  const { name } = hand
  const { putCategories, putNews, link, linked, newsOf } = at

  const ids = range(1, 10)
  const gone = 7
  const removals = {
    'the removal of an object': ({ contents }: Tested) => contents.removeObject(newsOf(gone), entry),
    'the removal of the category': ({ contents }: Tested) =>
      contents.removeCategory(at.list.site, at.list.category, entry),
  }

  describe.each(Object.entries(removals))(`linking and %s: ${name}`, (_, remove) => {
    test('leave no link to what is gone, at the same time', async () => {
      const another = at.hand.connect()
      const rounds = at.hand.quickChanges > 1_000 ? 25 : 10
      for (let round = 0; round < rounds; round++) {
        await putCategories([5])
        await putNews(ids)
        await Promise.all([
          link(ids),
          remove(another),
          another.links.link(at.list, wish(ids), entry),
          at.links.linkObject(newsOf(gone), new Map([[at.list.category, undefined]]), entry),
        ])
        const category = await at.contents.get(at.list.site, 'category', at.list.category)
        const existing = await at.contents.existing(at.list.site, 'news', ids)
        const strays = (await linked()).filter((id) => !category || !existing.has(id))
        expect(strays).toEqual([])
        // Whatever was linked too late does not come back with what is made anew.
        await putCategories([5])
        await putNews([gone])
        expect((await linked()).filter((id) => !category || !existing.has(id))).toEqual([])
        await at.links.unlink(at.list, ids, entry)
      }
    })

    test('one after the other: what is gone is unknown', async () => {
      await putNews(ids)
      await link(ids)
      await remove(at.hand.stores)
      expect((await link([gone])).outcome).toMatch(/unknown$/)
      const fromObject = await at.links.linkObject(newsOf(gone), new Map([[at.list.category, undefined]]), entry)
      expect(fromObject.outcome).toMatch(/unknown$/)
      expect(await linked()).not.toContain(gone)
    })
  })
}
