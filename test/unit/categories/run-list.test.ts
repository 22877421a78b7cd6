import { expect, test } from 'vitest'
import { associationShape, type Item } from '../../../lib/categories/query/item-shape.ts'
import { parseListQuery } from '../../../lib/categories/query/list-query.ts'
import { type ItemPage, type ListSource, runList } from '../../../lib/categories/run-list.ts'
import { largestPage } from '../../../lib/core/pages.ts'

const list = { shape: associationShape('news'), identity: [1001, 'news', 5] }

/** News items with subjects in descending order. */
const some = (count: number): Item[] =>
  Array.from({ length: count }, (_, index) => ({
    objectId: index + 1,
    displayable: index % 2,
    news: { id: index + 1, subject: `News ${count - index}`, weight: null },
  }))

interface Options {
  /** Ids whose objects are missing. */
  readonly gone?: readonly number[]
  /** The number of items that fit into an answer. */
  readonly room?: number
  /** The largest number of entries that a request may read. */
  readonly longest?: number
  readonly reads?: { objects: number }
}

const sourceOf = (
  items: readonly Item[],
  { gone = [], room = 4_900, longest = 20_000, reads = { objects: 0 } }: Options,
): ListSource => {
  const ids = items.map((item) => Number(item['objectId']))
  const behind = (after: number, limit: number) => ids.filter((id) => id > after).slice(0, limit)
  const itemOf = ({ id }: { id: number }) => items.find((item) => item['objectId'] === id) ?? {}
  return {
    longest,
    entries: async (after, limit) =>
      behind(after, limit).map((id) => ({ id, content: { ...itemOf({ id }), news: null } })),
    async count(after, limit) {
      const counted = behind(after, limit)
      return { count: counted.length, last: counted.at(-1) ?? after, ended: counted.length < limit }
    },
    listHas: ({ object }) => object === undefined,
    async items(entries) {
      reads.objects += entries.length
      return entries.filter(({ id }) => !gone.includes(id)).map(itemOf)
    },
    addTexts: async (all) => all.map((one) => ({ ...one, news: { subject: 'x'.repeat(largestPage / room - 999) } })),
  }
}

type Switches = Readonly<Record<string, string>>

const pageOf = async (items: readonly Item[], switches: Switches, options: Options = {}): Promise<ItemPage> => {
  const query = parseListQuery(new Map(Object.entries(switches)), list)
  return JSON.parse(await runList(sourceOf(items, options), query))
}

const ids = (items: readonly Item[]) => items.map((item) => item['objectId'])

const idsByCursor = async (items: readonly Item[], switches: Switches, options: Options = {}) => {
  const pages: Item[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: ItemPage = await pageOf(items, { ...switches, cursor }, options)
    pages.push(...page.items)
    cursor = page.nextCursor ?? null
  }
  return ids(pages)
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

test.each<[string, number, Options]>([
  ['if answers are cut', 7, { room: 2 }],
  ['if objects are missing', 31, { gone: range(32, 60) }],
  ['if a request may read only a few entries', 31, { longest: 3 }],
])('the pages by cursor together contain every item once %s', async (_, count, options) => {
  for (const where of ['{}', '{displayable:1}', '{id:{$gt:4}}']) {
    const all = await idsByCursor(some(count), { limit: '500', where })
    expect(await idsByCursor(some(options.gone ? 60 : count), { limit: '4', where }, options)).toEqual(all)
  }
})

test('the page after an empty page starts at the same position', async () => {
  for (const order of ['', 'subject']) {
    let cursor = ''
    for (const limit of [0, 1, 0, 2]) {
      const { items, nextCursor } = await pageOf(some(4), { limit: String(limit), cursor, order })
      expect(items).toHaveLength(limit)
      cursor = nextCursor ?? ''
    }
    expect(ids((await pageOf(some(4), { cursor, order })).items)).toEqual([order ? 1 : 4])
  }
})

test('the next page starts after the last item, even if that item was removed', async () => {
  const { nextCursor } = await pageOf(some(9), { cursor: '', limit: '3', order: 'subject' })
  const left = some(9).filter((item) => item['objectId'] !== 7)
  const { items } = await pageOf(left, { cursor: nextCursor ?? '', order: 'subject' })
  expect(ids(items)).toEqual([6, 5, 4, 3, 2, 1])
})

test.each([
  ['that compares only links reads the objects of its page', { where: '{displayable:1}', order: '-objectId' }, 50, 10],
  ['that compares objects reads each object once', { where: "{subject:{$contains:'1'}}", order: '-subject' }, 50, 50],
  ['by cursor reads no more than its page needs', { where: '{weight:null}', cursor: '', limit: '5' }, 1_000, 100],
])('a list %s', async (_, switches, count, read) => {
  const reads = { objects: 0 }
  await pageOf(some(count), switches, { reads })
  expect(reads.objects).toBe(read)
})

const tooLong = expect.objectContaining({ code: 220003, status: 400, message: expect.stringContaining('cursor') })

test.each([
  { where: '{subject:"a"}' },
  { order: 'subject' },
  { order: '-objectId' },
  { order: 'subject', cursor: '' },
  { where: '{id:1}', cursor: '', count: 'true' },
])('a list over the limit is neither filtered nor sorted (C-11, E-27): %o', async (switches) => {
  await expect(pageOf(some(11), switches, { longest: 10 })).rejects.toEqual(tooLong)
  await expect(pageOf(some(10), switches, { longest: 10 })).resolves.toBeDefined()
})

test('a list over the limit can be paged by skip or cursor, and filtered with a cursor', async () => {
  const longest = { longest: 10 }
  expect((await pageOf(some(11), { skip: '10', where: '{}' }, longest)).items).toHaveLength(1)
  expect((await pageOf(some(11), { cursor: '' }, longest)).items).toHaveLength(10)
  expect((await pageOf(some(11), { order: 'objectId,subject' }, longest)).items).toHaveLength(10)
  expect(await idsByCursor(some(31), { where: '{id:{$gt:29}}' }, longest)).toEqual([30, 31])
})
