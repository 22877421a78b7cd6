import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contentList, listContents } from '../../../lib/categories/content-list.ts'
import type { Contents } from '../../../lib/categories/contents.ts'
import { parseListQuery } from '../../../lib/categories/query/list-query.ts'
import type { ItemPage } from '../../../lib/categories/run-list.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { entry, hands, type OpenedHand } from '../../support/hands.ts'
import { newsItem, range } from '../ports/some-content.ts'

const site = 1001 as SiteId
const longestList = 1_200

/** The real store, and how many objects and how many long texts were asked of it. */
const counting = (contents: Contents) => {
  const read = { objects: 0, texts: 0 }
  const counted: Contents = {
    ...contents,
    async list(...args) {
      const listed = await contents.list(...args)
      read.objects += listed.length
      return listed
    },
    async getMany(...args) {
      const found = await contents.getMany(...args)
      read.objects += found.size
      return found
    },
    texts(of, kind, ids) {
      read.texts += ids.length
      return contents.texts(of, kind, ids)
    },
  }
  return { counted, read }
}

describe.each(hands)('the list of all news items of a site, on $name,', ({ open }) => {
  let hand: OpenedHand
  beforeAll(async () => {
    hand = await open()
    await hand.stores.contents.putMany(
      site,
      'news',
      range(1, 1_200).map((id) => newsItem(id, { weight: id % 100 })),
      entry,
    )
  })
  afterAll(() => hand.close())

  const list = async (switches: Readonly<Record<string, string>>) => {
    const { counted, read } = counting(hand.stores.contents)
    const query = parseListQuery(new Map(Object.entries(switches)), contentList(site, 'news'))
    const deps = { contents: counted, links: hand.stores.links, longestList }
    const page: ItemPage = JSON.parse(await listContents(deps, site, 'news', query))
    return { page, read, ids: page.items.map(({ id }) => id) }
  }

  test('reads the objects of its page, and their texts, and nothing else', async () => {
    const { page, read, ids } = await list({ skip: '1100', limit: '20' })
    expect(ids).toEqual(range(1_101, 1_120))
    expect(page.totalItemsCount).toBe(1_200)
    expect(page.items[0]).toMatchObject({ id: 1_101, body: '<p>Text 1101</p>' })
    expect(read).toEqual({ objects: 20, texts: 20 })
  })

  test('reads no text that it does not show', async () => {
    expect((await list({ fields: 'id,subject' })).read).toEqual({ objects: 10, texts: 0 })
    expect((await list({ fields: 'body' })).read).toEqual({ objects: 10, texts: 10 })
  })

  test('reads each object once when it is filtered and sorted, and the texts of the page', async () => {
    const { page, read, ids } = await list({ where: '{weight:7}', order: '-id', limit: '2' })
    expect(ids).toEqual([1_107, 1_007])
    expect(page.totalItemsCount).toBe(12)
    expect(read).toEqual({ objects: 1_200, texts: 2 })
  })

  test('by cursor reads one object more than it shows, wherever it is', async () => {
    const first = await list({ cursor: '', limit: '400' })
    const second = await list({ cursor: String(first.page.nextCursor), limit: '10' })
    expect(second.ids).toEqual(range(401, 410))
    expect(second.read).toEqual({ objects: 11, texts: 10 })
  })
})
