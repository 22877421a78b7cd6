import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { associationShape, type Item } from '../../../lib/categories/query/item-shape.ts'
import { parseListQuery } from '../../../lib/categories/query/list-query.ts'
import { parseOrder } from '../../../lib/categories/query/order.ts'
import type { ListSource } from '../../../lib/categories/run-list.ts'
import { type ItemPage, runList } from '../../../lib/categories/run-list.ts'
import { toJson } from '../../../lib/core/answer-size.ts'
import { timesToTry } from '../../support/each-call.ts'
import * as arbitrary from './query/arbitraries.ts'
import { type Condition, passes, sorted } from './query/reference.ts'

const list = { shape: associationShape('news'), identity: [1001, 'news', 5] }

interface Reads {
  objects: number
}

/**
 * A list in memory. `gone` are ids whose objects are missing, and `room` is the number of items that fit into an
 * answer.
 */
const sourceOf = (
  items: readonly Item[],
  {
    gone = [],
    room = Number.POSITIVE_INFINITY,
    reads = { objects: 0 },
  }: { gone?: readonly number[]; room?: number; reads?: Reads } = {},
): ListSource<{ id: number }> => {
  const ids = items.map((item) => Number(item['objectId']))
  const behind = (after: number, limit: number) => ids.filter((id) => id > after).slice(0, limit)
  const outline = ({ id }: { id: number }): Item => {
    const { news: _, ...own } = items.find((item) => item['objectId'] === id) ?? {}
    return own
  }
  return {
    entries: async (after, limit) => behind(after, limit).map((id) => ({ id })),
    async count(after, limit) {
      const counted = behind(after, limit)
      return { count: counted.length, last: counted.at(-1) ?? after, ended: counted.length < limit }
    },
    outline,
    outlineHas: ({ object }) => object === undefined,
    async items(entries) {
      reads.objects += entries.length
      const left = entries.filter(({ id }) => !gone.includes(id))
      return left.map(({ id }) => items.find((item) => item['objectId'] === id)).filter((item) => item !== undefined)
    },
    write: async (page, fields) => page.slice(0, room).map((item) => toJson(fields.select(item))),
  }
}

type Switches = Readonly<Record<string, string>>

const pageOf = async (
  items: readonly Item[],
  switches: Switches,
  options: Parameters<typeof sourceOf>[1] & { longest?: number } = {},
): Promise<ItemPage> => {
  const query = parseListQuery(new Map(Object.entries(switches)), list)
  return JSON.parse(await runList(sourceOf(items, options), query, options.longest ?? 20_000))
}

const bySkip = async (items: readonly Item[], switches: Switches, limit: number) => {
  const pages: Item[] = []
  for (let skip = 0; ; skip += limit) {
    const page = await pageOf(items, { ...switches, skip: String(skip), limit: String(limit) })
    if (page.items.length === 0) return pages
    pages.push(...page.items)
  }
}

const byCursor = async (
  items: readonly Item[],
  switches: Switches,
  limit: number,
  options: Parameters<typeof pageOf>[2] = {},
) => {
  const pages: Item[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: ItemPage = await pageOf(items, { ...switches, cursor, limit: String(limit) }, options)
    pages.push(...page.items)
    cursor = page.nextCursor ?? null
  }
  return pages
}

const ids = (items: readonly Item[]) => items.map((item) => item['objectId'])
const condition = fc.option(arbitrary.condition.filter((tree) => JSON.stringify(tree).split(':').length < 50))
const order = fc.option(arbitrary.order)
const limit = fc.integer({ min: 1, max: 12 })

const switchesOf = (where: Condition | null, terms: readonly string[] | null): Switches => ({
  ...(where && { where: JSON.stringify(where) }),
  ...(terms && { order: terms.join(',') }),
})
const expected = (items: readonly Item[], where: Condition | null, terms: readonly string[] | null) =>
  sorted(
    items.filter((item) => !where || passes(item, where)),
    terms ?? [],
  )

describe('the pages of a list together contain every item once', () => {
  test('the whole list comes in pages by skip', async () => {
    await fc.assert(
      fc.asyncProperty(arbitrary.items, condition, order, limit, async (items, where, terms, size) => {
        const pages = await bySkip(items, switchesOf(where, terms), size)
        expect(pages).toEqual(expected(items, where, terms))
      }),
      { numRuns: timesToTry(300) },
    )
  })

  test.each<[string, { readonly hasGone?: true; readonly room?: number; readonly longest?: number }]>([
    ['by cursor', {}],
    ['by cursor, if answers are cut', { room: 2 }],
    ['by cursor, if objects are missing', { hasGone: true }],
    ['by cursor, if a request may read only a few entries', { longest: 3 }],
  ])('the whole list comes in pages %s', async (_, { hasGone, ...options }) => {
    await fc.assert(
      fc.asyncProperty(arbitrary.items, condition, order, limit, async (items, where, anyTerms, size) => {
        // A list over the limit cannot be sorted.
        const terms = options.longest === undefined ? anyTerms : null
        const isGone = (item: Item) => hasGone === true && Number(item['objectId']) % 3 === 0
        const gone = items.filter(isGone).map((item) => Number(item['objectId']))
        const pages = await byCursor(items, switchesOf(where, terms), size, { ...options, gone })
        const left = items.filter((item) => !isGone(item))
        expect(pages).toEqual(expected(left, where, terms))
      }),
      { numRuns: timesToTry(200) },
    )
  })
})

test('every page has the total of all matches', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitrary.items,
      condition,
      order,
      fc.nat({ max: 40 }),
      limit,
      async (items, where, terms, skip, size) => {
        const total = expected(items, where, terms).length
        const switches = switchesOf(where, terms)
        const skipped = await pageOf(items, { ...switches, skip: String(skip), limit: String(size) })
        expect(skipped.totalItemsCount).toBe(total)
        expect((await pageOf(items, { ...switches, cursor: '', count: 'true' })).totalItemsCount).toBe(total)
        expect((await pageOf(items, { ...switches, cursor: '' })).totalItemsCount).toBeNull()
      },
    ),
    { numRuns: timesToTry(200) },
  )
})

const some = (count: number): Item[] =>
  Array.from({ length: count }, (_, index) => ({
    objectId: index + 1,
    displayable: index % 2,
    news: { id: index + 1, subject: `News ${count - index}`, weight: null },
  }))

describe('a page', () => {
  test('the page after an empty page starts at the same position', async () => {
    for (const order of ['', 'subject']) {
      const { nextCursor } = await pageOf(some(3), { limit: '0', cursor: '', order })
      const { items } = await pageOf(some(3), { cursor: nextCursor ?? '', order })
      expect(items).toHaveLength(3)
    }
  })

  test('a page that is cut has the number of its items as limit', async () => {
    const page = await pageOf(some(9), { limit: '5' }, { room: 2 })
    expect(page).toMatchObject({ totalItemsCount: 9, skip: 0, limit: 2 })
    expect(ids(page.items)).toEqual([1, 2])
  })

  test('the next page starts after the last item, even if that item was removed', async () => {
    const { nextCursor } = await pageOf(some(9), { cursor: '', limit: '3', order: 'subject' })
    const left = some(9).filter((item) => item['objectId'] !== 7)
    const { items } = await pageOf(left, { cursor: nextCursor ?? '', order: 'subject' })
    expect(ids(items)).toEqual([6, 5, 4, 3, 2, 1])
  })
})

describe('the number of objects that a list reads', () => {
  test.each([
    ['reads the objects of its page', { skip: '20', limit: '5' }, 50, 5],
    ['by cursor reads the objects of its page', { cursor: '', limit: '5' }, 50, 5],
    [
      'that compares only links reads the objects of its page',
      { where: '{displayable:1}', order: '-objectId' },
      50,
      10,
    ],
    ['that compares objects reads each object once', { where: "{subject:{$contains:'1'}}", order: '-subject' }, 50, 50],
    [
      'by cursor reads no more objects than its page needs',
      { where: '{weight:null}', cursor: '', limit: '5' },
      1_000,
      100,
    ],
  ])('a list %s', async (_, switches, count, read) => {
    const reads = { objects: 0 }
    await pageOf(some(count), switches, { reads })
    expect(reads.objects).toBe(read)
  })
})

describe('a list over the limit of objects (C-11, E-27)', () => {
  const tooLong = expect.objectContaining({ code: 220003, status: 400, message: expect.stringContaining('cursor') })

  test.each([
    { where: '{subject:"a"}' },
    { order: 'subject' },
    { order: '-objectId' },
    { order: 'subject', cursor: '' },
    { where: '{id:1}', cursor: '', count: 'true' },
  ])('a list over the limit is neither filtered nor sorted: %o', async (switches) => {
    await expect(pageOf(some(11), switches, { longest: 10 })).rejects.toEqual(tooLong)
    await expect(pageOf(some(10), switches, { longest: 10 })).resolves.toBeDefined()
  })

  test('a list over the limit can be paged by skip or cursor, and filtered with a cursor', async () => {
    const longest = { longest: 10 }
    expect((await pageOf(some(11), { skip: '10' }, longest)).items).toHaveLength(1)
    expect((await pageOf(some(11), { cursor: '' }, longest)).items).toHaveLength(10)
    expect((await pageOf(some(11), { order: 'objectId,subject' }, longest)).items).toHaveLength(10)
    expect(await byCursor(some(31), { where: '{id:{$gt:29}}' }, 10, longest)).toHaveLength(2)
  })
})

test('parsing an order twice gives the same order', () => {
  const { text } = parseOrder('-subject,weight', list.shape)
  expect(parseOrder(text, list.shape).text).toBe(text)
})
