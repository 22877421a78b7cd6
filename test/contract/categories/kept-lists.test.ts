import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { CategoryLinks } from '../../../lib/categories/category-links.ts'
import type { Contents } from '../../../lib/categories/contents.ts'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import { fillDirectory } from '../../support/every-operation.ts'
import { send } from '../../support/gateway.ts'
import { openHandler } from '../../support/handlers.ts'
import { entry, hands, type OpenedHand } from '../../support/hands.ts'
import { namedCategories, newsItem, newsItems } from '../ports/some-content.ts'

const site = 1001 as SiteId
const category = 5 as CategoryId
const news = { site, kind: 'news', category } as const

/** Changes that a list must show, made through the ports. */
const changes: Readonly<Record<string, (contents: Contents, links: CategoryLinks) => Promise<unknown>>> = {
  'a new member': (contents) => contents.putMany(site, 'news', [newsItem(1, { subject: 'Changed' })], entry),
  'a new text': (contents) => contents.putMany(site, 'news', [newsItem(1, { body: 'Changed' })], entry),
  'an additional link': (_, links) => links.link(news, new Map([[3, true]]), entry),
  'a hidden link': (_, links) => links.link(news, new Map([[1, false]]), entry),
  'a removed link': (_, links) => links.unlink(news, [1], entry),
  'a removed object': (contents) => contents.remove(site, 'news', 1, entry),
}

/** A change by this process or another one must remove the list from the cache. */
describe.each(hands)('a cached list on $name', ({ open }) => {
  let hand: OpenedHand
  let list: (query?: Record<string, string>, path?: string) => Promise<string>
  beforeAll(async () => {
    hand = await open()
    const token = await fillDirectory(hand.stores)
    const settings = { dataCentre: 'us', longestList: 100 }
    const handler = openHandler.categories(settings, hand.stores, { telemetry: { request: () => undefined } })
    list = async (query = {}, path = 'categories/5/news') => {
      const whole = `/webresources/api/v3/sites/${site}/${path}`
      const { status, headers, text } = await send(handler, 'GET', whole, { headers: { Authorization: token }, query })
      expect(status).toBe(200)
      return `${headers['etag']} ${text}`
    }
  })
  afterAll(() => hand.close())
  beforeEach(async () => {
    const { contents, links } = hand.stores
    await contents.putMany(site, 'category', namedCategories([category, 6]), entry)
    await contents.putMany(site, 'news', newsItems([1, 2, 3]), entry)
    await links.unlink(news, [3], entry)
    await links.link(news, new Map([1, 2].map((id) => [id, true])), entry)
  })

  test('a cached list stays the same while nothing changes', async () => {
    expect(await list()).toBe(await list())
  })

  describe.each(['this', 'another'])('a cached list after a change by %s process', (writer) => {
    test.each(Object.entries(changes))('the list shows %s', async (_, change) => {
      const before = await list()
      const { contents, links } = writer === 'this' ? hand.stores : hand.connect()
      await change(contents, links)
      expect(await list()).not.toBe(before)
    })
  })

  test('a cached list is not returned for another list', async () => {
    const answers = [
      await list(),
      await list({}, 'categories/5/blogs'),
      await list({}, 'categories'),
      await list({}, 'news/1/categories'),
      await list({}, 'news'),
      await list({ limit: '1' }),
      await list({ skip: '1' }),
      await list({ fields: 'objectId' }),
      await list({ where: '{objectId: 1}' }),
      await list({ order: '-objectId' }),
      await list({ cursor: '' }),
      await list({ cursor: '', count: 'true' }),
    ]
    expect(new Set(answers).size).toBe(answers.length)
  })
})
