import type { CategoryLink, CategoryLinks, LinkList, linkOf } from '../../categories/category-links.ts'
import type { SiteObject } from '../../categories/contents.ts'
import { type ObjectKind, objectKindNames } from '../../core/content-kinds.ts'
import type { CategoryId, SiteId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Deadline } from '../../core/time.ts'
import { expression, openTable, queryItems, queryPages, type TableOptions } from './dynamodb.ts'
import { batchDelete, batchGet, batchPut } from './dynamodb-batches.ts'
import { countAbove, type KeyRange } from './key-range.ts'

const updatesAtOnce = 32

export type LinkName = ReturnType<typeof linkOf>

// `wanted` is true if pages may show the object, and undefined if the caller does not say.
interface WantedLink extends LinkName {
  readonly wanted: boolean | undefined
}

// Leading zeros keep categories in order of their ids, in the index too.
const idDigits = 10
const afterAll = 10 ** idDigits - 1
const listKey = ({ site, kind, category }: { site: SiteId; kind: ObjectKind; category: number }) =>
  `${site}#${kind}#${String(category).padStart(idDigits, '0')}`

// Names of attributes count towards the size of an item, and so towards the cost of a list. Defaults are left out.
interface LinkItem {
  readonly list: string
  readonly id: number
  readonly d?: 0
}

const keyOf = (link: LinkName) => ({ list: listKey(link), id: link.id })

const toLink = ({ id, d }: LinkItem): CategoryLink => ({ id, displayable: d !== 0 })

const categoryIn = (list: unknown) => Number(String(list).slice(-idDigits)) as CategoryId

const rangeOf = (list: LinkList, consistent = false): KeyRange => ({
  above: (id) => ({ where: expression`#list = ${listKey(list)} AND #id > ${id}`, consistent }),
  idOf: ({ id }) => Number(id),
})

const inverseRangeOf = ({ site, kind, id }: SiteObject): KeyRange => ({
  above(category) {
    const [from, to] = [Math.min(category + 1, afterAll), afterAll].map((end) => listKey({ site, kind, category: end }))
    return { index: 'byObject', where: expression`#id = ${id} AND #list BETWEEN ${from} AND ${to}` }
  },
  idOf: ({ list }) => categoryIn(list),
})

/**
 * The table CategoryLinks: one item per link, as small as possible, and an index of the same two keys in reverse. A new
 * link costs two write units. Repeating a write is safe. Each link may occur once in a write.
 */
export const createLinkItems = (options: TableOptions) => {
  const table = openTable<LinkItem>(options)
  const deleteAll = async ({ above }: KeyRange): Promise<void> => {
    for await (const { items } of queryPages(table, above(0)))
      await batchDelete(
        table,
        items.map(({ list, id }) => ({ list, id })),
      )
  }
  return {
    list: async (list, after, limit, isConsistent) =>
      (await queryItems(table, rangeOf(list, isConsistent).above(after), limit)).map(toLink),
    count: (list, after, limit) => countAbove(table, rangeOf(list), after, limit),
    async categoriesOf(object, after, limit) {
      return (await queryItems(table, inverseRangeOf(object).above(after), limit)).map(({ list }) => categoryIn(list))
    },
    countCategoriesOf: (object, after, limit) => countAbove(table, inverseRangeOf(object), after, limit),

    async deleteIn(site: SiteId, category: CategoryId): Promise<void> {
      for (const kind of objectKindNames) await deleteAll(rangeOf({ site, kind, category }, true))
    },

    deleteOf: (object: SiteObject) => deleteAll(inverseRangeOf(object)),

    async withStored(links: readonly WantedLink[]) {
      const items = await batchGet(table, links.map(keyOf))
      const flags = new Map(items.map((item) => [`${item.list} ${item.id}`, toLink(item).displayable]))
      return links.map((link) => ({ ...link, stored: flags.get(`${listKey(link)} ${link.id}`) }))
    },

    putMany(links: readonly WantedLink[], deadline?: Deadline) {
      const items = links.map((link): LinkItem => ({ ...keyOf(link), ...(link.wanted === false && { d: 0 }) }))
      return batchPut(table, items, deadline)
    },

    // An update without an expression creates the item if it is missing. A batch cannot do this.
    addMany: (links: readonly LinkName[], { check, signal }: Deadline) =>
      inParallel(links.map(keyOf), updatesAtOnce, async (key) => {
        check()
        await table.update(key, { signal })
      }),

    deleteMany: (links: readonly LinkName[], deadline?: Deadline) => batchDelete(table, links.map(keyOf), deadline),
  } satisfies Partial<CategoryLinks> & Readonly<Record<string, unknown>>
}

export type LinkItems = ReturnType<typeof createLinkItems>
