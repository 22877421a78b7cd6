import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { Content, Contents } from '../../categories/contents.ts'
import { type ContentKind, contentMembers, givenText, isSameContent, textMember } from '../../core/content-kinds.ts'
import type { SiteId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Scalar } from '../../core/item-shape.ts'
import { isConditionFailure } from './dynamodb.ts'
import { batchGet, batchWrite, chunksOf, type WriteRequest } from './dynamodb-batches.ts'
import { countRange, type KeyRange, readRange } from './key-range.ts'

/** What of the port one table can do by itself. */
type OwnContents = Omit<Contents, 'create' | 'putMany' | 'changeMany' | 'removeObject' | 'removeCategory' | 'clear'>

type Apply = Parameters<Contents['changeMany']>[3]

/**
 * The table Content: the categories, news items and blogs of a site without their long texts, which are items of their own.
 * What is marked as removed no longer exists, for whoever reads it here.
 */
export interface ContentItems extends OwnContents {
  create(site: SiteId, kind: ContentKind, content: Content): Promise<boolean>
  putMany(site: SiteId, kind: ContentKind, contents: readonly Content[]): Promise<void>
  changeMany(site: SiteId, kind: ContentKind, ids: readonly number[], apply: Apply): Promise<number>
  /** All ids of a kind behind one, up to `limit`, of what is being removed as well, read consistently. */
  idsOf(site: SiteId, kind: ContentKind, after: number, limit: number): Promise<readonly number[]>
  /** Deletes these with their texts. Repeating is safe, and finds what is left. */
  deleteMany(site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<void>

  /** Marks it as removed. Answers whether there was anything to mark, marked before or not. */
  markRemoved(site: SiteId, kind: ContentKind, id: number): Promise<boolean>
  /** Deletes it with its text. */
  delete(site: SiteId, kind: ContentKind, id: number): Promise<void>
}

interface Options {
  readonly client: DynamoDBDocumentClient
  readonly table: string
  /** How long a busy store is tried again, in milliseconds. */
  readonly patience?: number
}

/** Set on what is being removed. Not the member `deleted` of a news item, which is its author's affair. */
const removedMark = 'removed'
const textAttribute = 'text'

const partitionOf = (site: SiteId, kind: ContentKind) => `${site}#${kind}`
const textPartitionOf = (site: SiteId, kind: ContentKind) => `${site}#${kind}#text`

type Attributes = Readonly<Record<string, unknown>>

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** Members that are the same for the whole partition, or kept apart, are not stored with each item. */
const toContent = (item: Attributes, site: SiteId, kind: ContentKind): Content | undefined => {
  if (item[removedMark] === true) return undefined
  const content: Record<string, Scalar> = {}
  for (const [name, { type }] of Object.entries(contentMembers[kind])) {
    const value = name === 'siteId' ? site : item[name]
    if (type !== 'text') content[name] = isScalar(value) ? value : null
  }
  return { ...content, id: Number(item['id']) }
}

const fromContent = (content: Content, site: SiteId, kind: ContentKind): Attributes => {
  const text = textMember(kind)
  const members = Object.entries(content).filter(([name]) => name !== text && name !== 'siteId')
  return { ...Object.fromEntries(members), kind: partitionOf(site, kind) }
}

/** How many are changed together, each with its long text in memory, and how many such groups at once. */
const changedTogether = 100
const groupsAtOnce = 4

/** The long text as an item of its own; none for a kind that has none. */
const textOf = (content: Content, site: SiteId, kind: ContentKind): Attributes[] => {
  const text = textMember(kind)
  return text === undefined
    ? []
    : [{ kind: textPartitionOf(site, kind), id: content.id, [textAttribute]: content[text] }]
}

export const createContentItems = ({ client, table, patience }: Options): ContentItems => {
  const batches = { client, table, ...(patience !== undefined && { patience }) }

  const rangeOf = (site: SiteId, kind: ContentKind): KeyRange => ({
    table,
    partitionKey: 'kind',
    partition: partitionOf(site, kind),
    sortKey: 'id',
    sortKeyOf: (id) => id,
    idOf: Number,
  })
  const keysOf = (partition: string, ids: readonly number[]) => ids.map((id) => ({ kind: partition, id }))

  const readItems = async (partition: string, ids: readonly number[], ConsistentRead = false) =>
    (await batchGet(batches, keysOf(partition, ids), { ConsistentRead })) as Attributes[]

  const readTexts = async (site: SiteId, kind: ContentKind, ids: readonly number[], consistent: boolean) => {
    const items = await readItems(textPartitionOf(site, kind), ids, consistent)
    return new Map(items.map((item) => [Number(item['id']), String(item[textAttribute] ?? '')]))
  }

  /** Changes some of them. What is as it should be is read, and not written. */
  const changeSome = async (site: SiteId, kind: ContentKind, ids: readonly number[], apply: Apply): Promise<number> => {
    const items = await readItems(partitionOf(site, kind), ids, true)
    const before = new Map(items.map((item) => [Number(item['id']), toContent(item, site, kind)]))
    const after = ids.map((id) => apply(before.get(id), id)).filter((content) => content !== undefined)
    const bringsText = after.filter((content) => before.get(content.id) && givenText(kind, content) !== undefined)
    const texts = await readTexts(
      site,
      kind,
      bringsText.map(({ id }) => id),
      true,
    )
    const changes = after.map((content) => {
      const stored = before.get(content.id)
      if (!stored) return [fromContent(content, site, kind), ...textOf(content, site, kind)]
      const text = givenText(kind, content)
      return [
        ...(isSameContent(kind, stored, content) ? [] : [fromContent(content, site, kind)]),
        ...(text === undefined || texts.get(content.id) === text ? [] : textOf(content, site, kind)),
      ]
    })
    await batchWrite(
      batches,
      changes.flat().map((Item): WriteRequest => ({ PutRequest: { Item } })),
    )
    return changes.filter((items) => items.length > 0).length
  }

  return {
    // A table does not tell when it was last written to.
    state: async () => undefined,

    async get(site, kind, id) {
      const { Item } = await client.send(
        new GetCommand({ TableName: table, Key: { kind: partitionOf(site, kind), id }, ConsistentRead: true }),
      )
      return Item && toContent(Item, site, kind)
    },

    async getMany(site, kind, ids) {
      const items = await readItems(partitionOf(site, kind), ids)
      const contents = items.map((item) => toContent(item, site, kind)).filter((content) => content !== undefined)
      return new Map(contents.map((content) => [content.id, content]))
    },

    async existing(site, kind, ids) {
      const items = (await batchGet(batches, keysOf(partitionOf(site, kind), ids), {
        ConsistentRead: true,
        ProjectionExpression: '#id, #removed',
        ExpressionAttributeNames: { '#id': 'id', '#removed': removedMark },
      })) as Attributes[]
      return new Set(items.filter((item) => item[removedMark] !== true).map((item) => Number(item['id'])))
    },

    texts: (site, kind, ids) => readTexts(site, kind, ids, false),

    async list(site, kind, after, limit) {
      const items = await readRange(client, rangeOf(site, kind), after, limit)
      return items.map((item) => ({ id: Number(item['id']), content: toContent(item, site, kind) }))
    },

    async listWhole(site, kind, after, limit) {
      const items = await readRange(client, { ...rangeOf(site, kind), consistent: true }, after, limit)
      const listed = items.map((item) => ({ id: Number(item['id']), content: toContent(item, site, kind) }))
      const member = textMember(kind)
      if (member === undefined) return listed
      const texts = await readTexts(
        site,
        kind,
        listed.map(({ id }) => id),
        true,
      )
      return listed.map(({ id, content }) => ({
        id,
        content: content && { ...content, [member]: texts.get(id) ?? '' },
      }))
    },

    count: (site, kind, after, limit) => countRange(client, rangeOf(site, kind), after, limit),

    async highestId(site, kind) {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: '#kind = :kind',
          ExpressionAttributeNames: { '#kind': 'kind' },
          ExpressionAttributeValues: { ':kind': partitionOf(site, kind) },
          ScanIndexForward: false,
          Limit: 1,
          ConsistentRead: true,
        }),
      )
      return Number(Items[0]?.['id'] ?? 0)
    },

    async create(site, kind, content) {
      try {
        await client.send(
          new PutCommand({
            TableName: table,
            Item: fromContent(content, site, kind),
            ConditionExpression: 'attribute_not_exists(id)',
          }),
        )
      } catch (error) {
        if (isConditionFailure(error)) return false
        throw error
      }
      // Not before it is known to be the text of this very content, and of no other one of the same id.
      for (const Item of textOf(content, site, kind)) await client.send(new PutCommand({ TableName: table, Item }))
      return true
    },

    async putMany(site, kind, contents) {
      const requests = contents.flatMap((content): WriteRequest[] =>
        [fromContent(content, site, kind), ...textOf(content, site, kind)].map((Item) => ({ PutRequest: { Item } })),
      )
      await batchWrite(batches, requests)
    },

    async changeMany(site, kind, ids, apply) {
      let changed = 0
      await inParallel(chunksOf(ids, changedTogether), groupsAtOnce, async (some) => {
        const count = await changeSome(site, kind, some, apply)
        changed += count
      })
      return changed
    },

    async idsOf(site, kind, after, limit) {
      const items = await readRange(client, { ...rangeOf(site, kind), consistent: true }, after, limit)
      return items.map((item) => Number(item['id']))
    },

    async deleteMany(site, kind, ids) {
      const deletions = (partition: string) => keysOf(partition, ids).map((Key) => ({ DeleteRequest: { Key } }))
      // The texts first: whoever repeats a removal that broke off here still finds their items.
      if (textMember(kind) !== undefined) await batchWrite(batches, deletions(textPartitionOf(site, kind)))
      await batchWrite(batches, deletions(partitionOf(site, kind)))
    },

    async markRemoved(site, kind, id) {
      try {
        await client.send(
          new UpdateCommand({
            TableName: table,
            Key: { kind: partitionOf(site, kind), id },
            UpdateExpression: 'SET #removed = :true',
            ConditionExpression: 'attribute_exists(id)',
            ExpressionAttributeNames: { '#removed': removedMark },
            ExpressionAttributeValues: { ':true': true },
          }),
        )
        return true
      } catch (error) {
        if (isConditionFailure(error)) return false
        throw error
      }
    },

    async delete(site, kind, id) {
      // The text first: whoever repeats a removal that broke off here still finds the marked item.
      if (textMember(kind) !== undefined) {
        await client.send(new DeleteCommand({ TableName: table, Key: { kind: textPartitionOf(site, kind), id } }))
      }
      await client.send(new DeleteCommand({ TableName: table, Key: { kind: partitionOf(site, kind), id } }))
    },
  }
}
