import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { CategoryLink, CategoryLinks, LinkList } from '../../categories/category-links.ts'
import type { SiteObject } from '../../categories/contents.ts'
import type { ObjectKind } from '../../core/content-kinds.ts'
import type { CategoryId, SiteId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Allowance } from '../calls/in-time.ts'
import { batchGet, batchWrite } from './dynamodb-batches.ts'
import { countRange, type KeyRange, readRange } from './key-range.ts'

/**
 * The table CategoryLinks: one item per link, as small as can be, and an index of the same two keys the other way round.
 * A new link costs two write units, one for the item and one for its entry in the index.
 */
export interface LinkItems extends Omit<CategoryLinks, 'link' | 'unlink' | 'linkObject' | 'unlinkObject'> {
  /** The links with these objects, read consistently. */
  getMany(list: LinkList, ids: readonly number[]): Promise<ReadonlyMap<number, CategoryLink>>
  /** Stores these, each id once, in place of what there is. Repeating is safe. */
  putMany(list: LinkList, links: readonly CategoryLink[], allowance?: Allowance): Promise<void>
  /** Stores displayable links with these, but leaves a link as it is that exists by then. Repeating is safe. */
  addMany(list: LinkList, ids: readonly number[], allowance: Allowance): Promise<void>
  /** Deletes these, each id once, whether they are there or not. Repeating is safe. */
  deleteMany(list: LinkList, ids: readonly number[], allowance?: Allowance): Promise<void>
  /** Deletes the links of one object with these categories, each once, whether they are there or not. Repeating is safe. */
  deleteOfObject(object: SiteObject, categories: readonly CategoryId[], allowance?: Allowance): Promise<void>
}

interface Options {
  readonly client: DynamoDBDocumentClient
  readonly table: string
  /** How long a busy store is tried again, in milliseconds. */
  readonly patience?: number
}

/** How many links are made at once, each with a call of its own. */
const updatesAtOnce = 32

/** Categories in order of their ids, so that the index lists those of an object in that order. */
const idDigits = 10
const listKey = ({ site, kind, category }: { site: SiteId; kind: ObjectKind; category: number }) =>
  `${site}#${kind}#${String(category).padStart(idDigits, '0')}`

/** Attribute names and absent defaults count towards the size of an item, and thereby towards the cost of reading a list. */
interface LinkItem {
  readonly list: string
  readonly id: number
  /** 0 when the link is not displayable; absent otherwise. */
  readonly d?: 0
}

const toLink = (item: Readonly<Record<string, unknown>>): CategoryLink => ({
  id: Number(item['id']),
  displayable: item['d'] !== 0,
})

export const createLinkItems = ({ client, table, patience }: Options): LinkItems => {
  const batches = { client, table, ...(patience !== undefined && { patience }) }

  const rangeOf = (list: LinkList): KeyRange => ({
    table,
    partitionKey: 'list',
    partition: listKey(list),
    sortKey: 'id',
    sortKeyOf: (id) => id,
    idOf: Number,
  })
  const inverseRangeOf = ({ site, kind, id }: SiteObject): KeyRange => ({
    table,
    index: 'byObject',
    partitionKey: 'id',
    partition: id,
    sortKey: 'list',
    sortKeyOf: (category) => listKey({ site, kind, category }),
    idOf: (key) => Number(String(key).slice(-idDigits)),
  })

  return {
    list: async (list, after, limit) => (await readRange(client, rangeOf(list), after, limit)).map(toLink),
    async listConsistently(list, after, limit) {
      return (await readRange(client, { ...rangeOf(list), consistent: true }, after, limit)).map(toLink)
    },
    count: (list, after, limit) => countRange(client, rangeOf(list), after, limit),

    async getMany(list, ids) {
      const keys = ids.map((id) => ({ list: listKey(list), id }))
      const items = await batchGet(batches, keys, { ConsistentRead: true })
      const links = (items as Readonly<Record<string, unknown>>[]).map(toLink)
      return new Map(links.map((link) => [link.id, link]))
    },

    putMany: (list, links, allowance) =>
      batchWrite(
        { ...batches, ...(allowance && { allowance }) },
        links.map(({ id, displayable }) => ({
          PutRequest: { Item: { list: listKey(list), id, ...(!displayable && { d: 0 }) } satisfies LinkItem },
        })),
      ),

    // An update that says nothing makes the item of its key when there is none. A batch cannot say so.
    addMany: (list, ids, { check, abortSignal }) =>
      inParallel(ids, updatesAtOnce, async (id) => {
        check()
        const Key = { list: listKey(list), id }
        await client.send(new UpdateCommand({ TableName: table, Key }), { abortSignal })
      }),

    deleteMany: (list, ids, allowance) =>
      batchWrite(
        { ...batches, ...(allowance && { allowance }) },
        ids.map((id) => ({ DeleteRequest: { Key: { list: listKey(list), id } } })),
      ),

    deleteOfObject: ({ site, kind, id }, categories, allowance) =>
      batchWrite(
        { ...batches, ...(allowance && { allowance }) },
        categories.map((category) => ({ DeleteRequest: { Key: { list: listKey({ site, kind, category }), id } } })),
      ),

    async categoriesOf(object, after, limit) {
      const range = inverseRangeOf(object)
      const items = await readRange(client, range, after, limit)
      return items.map((item) => range.idOf(item['list']) as CategoryId)
    },
    countCategoriesOf: (object, after, limit) => countRange(client, inverseRangeOf(object), after, limit),
  }
}
