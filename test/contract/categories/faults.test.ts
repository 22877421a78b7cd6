import { beforeAll, describe, expect, test } from 'vitest'
import { link, linksOf, unlink } from '../../../lib/categories/category-links.ts'
import { associationList, contentList } from '../../../lib/categories/lists.ts'
import { parseListQuery } from '../../../lib/categories/query/list-query.ts'
import type { ItemPage } from '../../../lib/categories/run-list.ts'
import { createDeadline } from '../../../lib/core/time.ts'
import { asServiceError } from '../../../lib/http/render-reply.ts'
import { callsToTry } from '../../support/each-call.ts'
import { author, entry } from '../../support/history.ts'
import { aroundCall, aroundCommands, beforeCalls, watchCalls } from '../../support/store-faults.ts'
import { range } from '../ports/some-content.ts'
import { faults } from './faults.ts'
import { category, type Deps, fill, linkedIds, newsOfCategory, openStore, site } from './store.ts'

const store = await openStore()
const deps = store.over(store.dynamodb)

const all = range(1, 120)
const linked = range(1, 40)
const itemsTo = (last: number) => range(1, last).map((id) => ({ id }))

const resetLinks = async () => {
  await deps.linkItems.deleteMany(linksOf(newsOfCategory, all))
  await deps.linkItems.putMany(linksOf(newsOfCategory, linked).map((link) => ({ ...link, wanted: link.id > 10 })))
}

const resetAll = async () => {
  await fill(deps, all)
  await resetLinks()
}

const list = async (over: Deps, switches: Readonly<Record<string, string>>): Promise<ItemPage> => {
  const query = new Map(Object.entries(switches))
  const ofCategory = associationList(newsOfCategory)
  return JSON.parse(await ofCategory.read(over, parseListQuery(query, ofCategory)))
}

interface Operation {
  /** Undoes the changes that the operation made. */
  readonly reset?: () => Promise<void>
  readonly run: (over: Deps) => Promise<unknown>
  /** Fails unless the operation left the right state and gave the right answer. */
  readonly verify: (answer: unknown) => Promise<void> | void
}

const operations: Readonly<Record<string, Operation>> = {
  'linking 120 objects, 40 of them linked already': {
    reset: resetLinks,
    run: (over) =>
      link(
        over,
        newsOfCategory,
        // Most new links are written in batches. Each of the other links takes one call.
        all.map((id) => ({ id, ...(id > 44 && { displayable: true }) })),
        author,
      ),
    async verify() {
      expect(await linkedIds(deps)).toEqual(all)
      const links = await deps.links.list(newsOfCategory, 0, 200)
      expect(links.filter(({ displayable }) => !displayable).map(({ id }) => id)).toEqual(range(1, 10))
    },
  },
  'unlinking 60 objects, 20 of them not linked': {
    reset: resetLinks,
    run: (over) => unlink(over, newsOfCategory, itemsTo(60), author),
    verify: async () => expect(await linkedIds(deps)).toEqual([]),
  },
  'removing a category': {
    reset: resetAll,
    run: (over) => over.contents.remove(site, 'category', category, entry),
    async verify() {
      expect(await linkedIds(deps)).toEqual([])
      expect(await deps.contents.get(site, 'category', category)).toBeUndefined()
    },
  },
  'removing a news item': {
    reset: resetAll,
    run: (over) => over.contents.remove(site, 'news', 7, entry),
    async verify() {
      expect(await linkedIds(deps)).toEqual(linked.filter((id) => id !== 7))
      expect((await deps.contents.texts(site, 'news', [7])).size).toBe(0)
    },
  },
  'listing all news items': {
    run: async (over) => {
      const all = contentList(site, 'news')
      return JSON.parse(await all.read(over, parseListQuery(new Map([['limit', '200']]), all)))
    },
    verify: (answer) => expect(answer).toMatchObject({ totalItemsCount: 120, items: { length: 120 } }),
  },
  'listing a page': {
    run: (over) => list(over, { skip: '30', limit: '5' }),
    verify: (answer) => {
      const [first, ...others] = range(31, 35).map((objectId) => ({ objectId }))
      const items = [{ ...first, news: { body: '<p>Text 31</p>' } }, ...others]
      expect(answer).toMatchObject({ totalItemsCount: 40, items })
    },
  },
  'listing by cursor': {
    run: (over) => list(over, { where: '{id:{$gt:20}}', cursor: '', count: 'true', limit: '3' }),
    verify: (answer) => expect(answer).toMatchObject({ items: [21, 22, 23].map((objectId) => ({ objectId })) }),
  },
}

describe.each(Object.entries(operations))('%s', (_, operation) => {
  beforeAll(resetAll)

  test.each(Object.entries(faults))('if the store %s, the operation or its repetition succeeds', async (_, fault) => {
    await operation.reset?.()
    const watched = store.connect()
    const calls = watchCalls(watched)
    await operation.run(store.over(watched))
    expect(calls.length).toBeGreaterThan(1)
    for (const at of callsToTry(calls.length)) {
      await operation.reset?.()
      const client = store.connect()
      aroundCall(client, at, fault)
      const answer = await operation.run(store.over(client)).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      if ('error' in answer) {
        expect(asServiceError(answer.error)).toMatchObject({ code: 100503, status: 503 })
        await operation.verify(await operation.run(deps))
      } else {
        await operation.verify(answer.value)
      }
    }
  })

  test('while the store is busy, the operation answers 503, and never a partial success', async () => {
    await operation.reset?.()
    const always = (fault: keyof typeof faults) => {
      const client = store.connect()
      aroundCommands(client, 'call', faults[fault])
      return client
    }
    const refused = operation.run(store.over(always('carries out nothing'), 20)).catch(asServiceError)
    expect(await refused).toMatchObject({ code: 100503 })
    await operation.verify(await operation.run(store.over(always('carries out only half'))))
  })
})

test('When the time of a request is up, it writes no further link', async () => {
  await fill(deps, all)
  await deps.linkItems.deleteMany(linksOf(newsOfCategory, all))
  let left = 60_000
  const slow = store.connect()
  beforeCalls(slow, 'UpdateItemCommand', async () => {
    left = 0
  })
  const wanted = new Map(all.map((id) => [id, undefined]))
  const linking = store.over(slow).links.link(
    newsOfCategory,
    wanted,
    entry,
    createDeadline(() => left),
  )
  await expect(linking).rejects.toMatchObject({ code: 100503 })
  expect((await linkedIds(deps)).length).toBeLessThan(all.length)
})
