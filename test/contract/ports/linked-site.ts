import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { LinkList } from '../../../lib/categories/category-links.ts'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import { entry, type Hand, type OpenedHand } from '../../support/hands.ts'
import { idsOf, newsItem } from './some-content.ts'

export type Tested = Pick<Stores, 'contents' | 'links'>

export const wish = (ids: readonly number[], displayable?: boolean) => new Map(ids.map((id) => [id, displayable]))

/** The stores of a hand, and a site for each test, with the category 5. To be called where tests are described. */
export const openLinks = ({ open }: Hand<Tested>) => {
  let hand: OpenedHand<Tested>
  beforeAll(async () => {
    hand = await open()
  })
  afterAll(() => hand.close())

  let lastSite = 0
  let list: LinkList
  beforeEach(async () => {
    lastSite += 1
    list = { site: lastSite as SiteId, kind: 'news', category: 5 as CategoryId }
    await putCategories([5])
  })

  const putCategories = (ids: readonly number[], site = list.site) =>
    hand.stores.contents.putMany(
      site,
      'category',
      ids.map((id) => ({ id, name: `Category ${id}` })),
      entry,
    )

  return {
    get hand() {
      return hand
    },
    get contents() {
      return hand.stores.contents
    },
    get links() {
      return hand.stores.links
    },
    /** The news of the category 5. */
    get list() {
      return list
    },
    putCategories,
    putNews: (ids: readonly number[], site = list.site) =>
      hand.stores.contents.putMany(
        site,
        'news',
        ids.map((id) => newsItem(id)),
        entry,
      ),
    link: (ids: readonly number[], displayable?: boolean, over = list) =>
      hand.stores.links.link(over, wish(ids, displayable), entry),
    linked: async (over = list) => idsOf(await hand.stores.links.list(over, 0, 10_000)),
    newsOf: (id: number) => ({ site: list.site, kind: 'news', id }) as const,
  }
}
