import type { CategoryLink, CategoryLinks, LinkList } from '../../categories/category-links.ts'
import type { SiteObject } from '../../categories/contents.ts'
import type { ObjectKind } from '../../core/content-kinds.ts'
import type { Deadline } from '../../core/deadline.ts'
import type { CategoryId, SiteId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { openTable, type Table, type TableOptions } from './dynamodb.ts'
import { batchDelete, batchGet, batchPut } from './dynamodb-batches.ts'
import { countRange, type KeyRange, rangePages, readRange } from './key-range.ts'

const updatesAtOnce = 32

// Leading zeros keep categories in order of their ids, in the index too.
const idDigits = 10
const listKey = ({ site, kind, category }: { site: SiteId; kind: ObjectKind; category: number }) =>
  `${site}#${kind}#${String(category).padStart(idDigits, '0')}`

// Names of attributes count towards the size of an item, and so towards the cost of a list. Defaults are left out.
interface LinkItem {
  readonly list: string
  readonly id: number
  readonly d?: 0
}

const toLink = ({ id, d }: LinkItem): CategoryLink => ({ id, displayable: d !== 0 })

const categoryIn = (key: unknown) => Number(String(key).slice(-idDigits))
const categoryOf = ({ list }: LinkItem) => categoryIn(list) as CategoryId

const rangeOf = (list: LinkList): KeyRange => ({
  partitionKey: 'list',
  partition: listKey(list),
  sortKey: 'id',
  sortKeyOf: (id) => id,
  idOf: Number,
})

const inverseRangeOf = ({ site, kind, id }: SiteObject): KeyRange => ({
  index: 'byObject',
  partitionKey: 'id',
  partition: id,
  sortKey: 'list',
  sortKeyOf: (category) => listKey({ site, kind, category }),
  idOf: categoryIn,
})

const createReading = (table: Table<LinkItem>) =>
  ({
    list: async (list, after, limit) => (await readRange(table, rangeOf(list), after, limit)).map(toLink),
    async listConsistently(list, after, limit) {
      return (await readRange(table, { ...rangeOf(list), consistent: true }, after, limit)).map(toLink)
    },
    count: (list, after, limit) => countRange(table, rangeOf(list), after, limit),
    async categoriesOf(object, after, limit) {
      return (await readRange(table, inverseRangeOf(object), after, limit)).map(categoryOf)
    },
    countCategoriesOf: (object, after, limit) => countRange(table, inverseRangeOf(object), after, limit),
  }) satisfies Partial<CategoryLinks>

/**
 * The table CategoryLinks: one item per link, as small as possible, and an index of the same two keys in reverse. A new
 * link costs two write units. Repeating a write is safe. Each id may occur once in a write.
 */
export const createLinkItems = (options: TableOptions) => {
  const table = openTable<LinkItem>(options)
  const keysOf = (list: LinkList, ids: readonly number[]) => ids.map((id) => ({ list: listKey(list), id }))

  return {
    ...createReading(table),

    async *idPages(list: LinkList) {
      for await (const items of rangePages(table, { ...rangeOf(list), consistent: true }))
        yield items.map(({ id }) => id)
    },

    // All categories of an object. The list may lag behind changes.
    async *categoryPages(object: SiteObject) {
      for await (const items of rangePages(table, inverseRangeOf(object))) yield items.map(categoryOf)
    },

    async getMany(list: LinkList, ids: readonly number[]) {
      const links = (await batchGet(table, keysOf(list, ids))).map(toLink)
      return new Map(links.map((link) => [link.id, link]))
    },

    putMany: (list: LinkList, links: readonly CategoryLink[], deadline?: Deadline) =>
      batchPut(
        table,
        links.map(({ id, displayable }): LinkItem => ({ list: listKey(list), id, ...(!displayable && { d: 0 }) })),
        deadline,
      ),

    // An update without an expression creates the item if it is missing. A batch cannot do this.
    addMany: (list: LinkList, ids: readonly number[], { check, signal }: Deadline) =>
      inParallel(keysOf(list, ids), updatesAtOnce, async (key) => {
        check()
        await table.update(key, { signal })
      }),

    deleteMany: (list: LinkList, ids: readonly number[], deadline?: Deadline) =>
      batchDelete(table, keysOf(list, ids), deadline),

    deleteOfObject: ({ site, kind, id }: SiteObject, categories: readonly CategoryId[], deadline?: Deadline) =>
      batchDelete(
        table,
        categories.map((category) => ({ list: listKey({ site, kind, category }), id })),
        deadline,
      ),
  }
}

export type LinkItems = ReturnType<typeof createLinkItems>
