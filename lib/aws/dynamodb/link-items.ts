import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { CategoryLink, CategoryLinks, LinkList } from '../../categories/category-links.ts'
import type { SiteObject } from '../../categories/contents.ts'
import type { ObjectKind } from '../../core/content-kinds.ts'
import type { Deadline } from '../../core/deadline.ts'
import type { CategoryId, SiteId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type Attributes, openTable } from './dynamodb.ts'
import { batchGet, batchWrite } from './dynamodb-batches.ts'
import { countRange, type KeyRange, readRange } from './key-range.ts'

/**
 * The table CategoryLinks: one item per link, as small as can be, and an index of the same two keys in reverse. A new
 * link costs two write units. Every write is safe to repeat and takes each id once.
 */
export interface LinkItems extends Omit<CategoryLinks, 'link' | 'unlink' | 'linkObject' | 'unlinkObject'> {
  // Reads consistently.
  getMany(list: LinkList, ids: readonly number[]): Promise<ReadonlyMap<number, CategoryLink>>
  putMany(list: LinkList, links: readonly CategoryLink[], deadline?: Deadline): Promise<void>
  // Adds displayable links and leaves existing ones as they are.
  addMany(list: LinkList, ids: readonly number[], deadline: Deadline): Promise<void>
  deleteMany(list: LinkList, ids: readonly number[], deadline?: Deadline): Promise<void>
  deleteOfObject(object: SiteObject, categories: readonly CategoryId[], deadline?: Deadline): Promise<void>
}

interface Options {
  readonly client: DynamoDBDocumentClient
  readonly table: string
  // Milliseconds without progress after which a store counts as unavailable.
  readonly longestStall?: number
}

const updatesAtOnce = 32

// Digits keep categories in order of their ids, in the index too.
const idDigits = 10
const listKey = ({ site, kind, category }: { site: SiteId; kind: ObjectKind; category: number }) =>
  `${site}#${kind}#${String(category).padStart(idDigits, '0')}`

// Names of attributes and absent defaults count towards the size of an item, and so towards the cost of a list.
interface LinkItem {
  readonly list: string
  readonly id: number
  // 0 when the link is not displayable; absent otherwise.
  readonly d?: 0
}

const toLink = (item: Attributes): CategoryLink => ({ id: Number(item['id']), displayable: item['d'] !== 0 })

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
  idOf: (key) => Number(String(key).slice(-idDigits)),
})

export const createLinkItems = ({ client, table: name, longestStall }: Options): LinkItems => {
  const table = openTable({ dynamodb: client, table: name })
  const batches = { client, name, ...(longestStall !== undefined && { longestStall }) }

  return {
    list: async (list, after, limit) => (await readRange(table, rangeOf(list), after, limit)).map(toLink),
    async listConsistently(list, after, limit) {
      return (await readRange(table, { ...rangeOf(list), consistent: true }, after, limit)).map(toLink)
    },
    count: (list, after, limit) => countRange(table, rangeOf(list), after, limit),

    async getMany(list, ids) {
      const keys = ids.map((id) => ({ list: listKey(list), id }))
      const links = (await batchGet(batches, keys, { ConsistentRead: true })).map(toLink)
      return new Map(links.map((link) => [link.id, link]))
    },

    putMany: (list, links, deadline) =>
      batchWrite(
        { ...batches, deadline },
        links.map(({ id, displayable }) => ({
          PutRequest: { Item: { list: listKey(list), id, ...(!displayable && { d: 0 }) } satisfies LinkItem },
        })),
      ),

    // An update without an expression creates the missing item. A batch cannot say that.
    addMany: (list, ids, { check, signal }) =>
      inParallel(ids, updatesAtOnce, async (id) => {
        check()
        await client.send(new UpdateCommand({ TableName: name, Key: { list: listKey(list), id } }), {
          abortSignal: signal,
        })
      }),

    deleteMany: (list, ids, deadline) =>
      batchWrite(
        { ...batches, deadline },
        ids.map((id) => ({ DeleteRequest: { Key: { list: listKey(list), id } } })),
      ),

    deleteOfObject: ({ site, kind, id }, categories, deadline) =>
      batchWrite(
        { ...batches, deadline },
        categories.map((category) => ({ DeleteRequest: { Key: { list: listKey({ site, kind, category }), id } } })),
      ),

    async categoriesOf(object, after, limit) {
      const range = inverseRangeOf(object)
      return (await readRange(table, range, after, limit)).map((item) => range.idOf(item['list']) as CategoryId)
    },
    countCategoriesOf: (object, after, limit) => countRange(table, inverseRangeOf(object), after, limit),
  }
}
