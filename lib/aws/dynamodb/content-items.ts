import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Content, Contents } from '../../categories/contents.ts'
import { type ContentKind, contentMembers, givenText, isSameContent, textMember } from '../../core/content-kinds.ts'
import type { SiteId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Scalar } from '../../core/object-kinds.ts'
import { type Attributes, openTable, queryPage, type Table } from './dynamodb.ts'
import { type BatchOptions, batchGet, batchWrite, chunksOf, type WriteRequest } from './dynamodb-batches.ts'
import { countRange, type KeyRange, readRange } from './key-range.ts'

type Apply = Parameters<Contents['changeMany']>[3]

type Reading = Omit<Contents, 'create' | 'putMany' | 'changeMany' | 'removeObject' | 'removeCategory' | 'clear'> & {
  // Ids after one, up to `limit`, read consistently, with those of marked items.
  idsOf(site: SiteId, kind: ContentKind, after: number, limit: number): Promise<readonly number[]>
}

interface Writing {
  create(site: SiteId, kind: ContentKind, content: Content): Promise<boolean>
  putMany(site: SiteId, kind: ContentKind, contents: readonly Content[]): Promise<void>
  // Answers how many it has changed.
  changeMany(site: SiteId, kind: ContentKind, ids: readonly number[], apply: Apply): Promise<number>
  // Deletes items with their texts. Repeating is safe.
  deleteMany(site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<void>
  // Answers false when there is no such item.
  markRemoved(site: SiteId, kind: ContentKind, id: number): Promise<boolean>
  delete(site: SiteId, kind: ContentKind, id: number): Promise<void>
}

/**
 * The table Content: the categories, news items and blogs of a site. Long texts are items of their own. Items that are
 * marked as removed do not exist for readers.
 */
export type ContentItems = Reading & Writing

interface Options {
  readonly client: DynamoDBDocumentClient
  readonly table: string
  // Milliseconds without progress after which a store counts as unavailable.
  readonly longestStall?: number
}

/** Marks an item that is being removed. The member `deleted` of a news item belongs to its author. */
const removedMark = 'removed'
const textAttribute = 'text'

const partitionOf = (site: SiteId, kind: ContentKind) => `${site}#${kind}`
const textPartitionOf = (site: SiteId, kind: ContentKind) => `${site}#${kind}#text`
const keysOf = (partition: string, ids: readonly number[]) => ids.map((id) => ({ kind: partition, id }))

const rangeOf = (site: SiteId, kind: ContentKind, consistent = false): KeyRange => ({
  partitionKey: 'kind',
  partition: partitionOf(site, kind),
  sortKey: 'id',
  sortKeyOf: (id) => id,
  idOf: Number,
  consistent,
})

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

const toContent = (item: Attributes, site: SiteId, kind: ContentKind): Content | undefined => {
  if (item[removedMark] === true) return undefined
  const content: Record<string, Scalar> = {}
  for (const [name, { type }] of Object.entries(contentMembers[kind])) {
    const value = name === 'siteId' ? site : item[name]
    if (type !== 'text') content[name] = isScalar(value) ? value : null
  }
  return { ...content, id: Number(item['id']) }
}

// The site is part of the key, and the text an item of its own.
const fromContent = (content: Content, site: SiteId, kind: ContentKind): Attributes => {
  const text = textMember(kind)
  const members = Object.entries(content).filter(([name]) => name !== text && name !== 'siteId')
  return { ...Object.fromEntries(members), kind: partitionOf(site, kind) }
}

/** The item with the long text; none for a kind without one. */
const textItems = (content: Content, site: SiteId, kind: ContentKind): Attributes[] => {
  const text = textMember(kind)
  return text === undefined
    ? []
    : [{ kind: textPartitionOf(site, kind), id: content.id, [textAttribute]: content[text] }]
}

// A group is in memory with its long texts.
const changedTogether = 100
const groupsAtOnce = 4

const readItems = (batches: BatchOptions, partition: string, ids: readonly number[], ConsistentRead: boolean) =>
  batchGet(batches, keysOf(partition, ids), { ConsistentRead })

const readTexts = async (
  batches: BatchOptions,
  { site, kind }: { readonly site: SiteId; readonly kind: ContentKind },
  ids: readonly number[],
  isConsistent: boolean,
) => {
  const items = await readItems(batches, textPartitionOf(site, kind), ids, isConsistent)
  return new Map(items.map((item) => [Number(item['id']), String(item[textAttribute] ?? '')]))
}

/** Changes some items. Those that stay the same are not written. */
const changeSome = async (
  batches: BatchOptions,
  { site, kind }: { readonly site: SiteId; readonly kind: ContentKind },
  ids: readonly number[],
  apply: Apply,
): Promise<number> => {
  const items = await readItems(batches, partitionOf(site, kind), ids, true)
  const before = new Map(items.map((item) => [Number(item['id']), toContent(item, site, kind)]))
  const after = ids.map((id) => apply(before.get(id), id)).filter((content) => content !== undefined)
  const withText = after.filter((content) => before.get(content.id) && givenText(kind, content) !== undefined)
  const textIds = withText.map(({ id }) => id)
  const texts = await readTexts(batches, { site, kind }, textIds, true)
  const changes = after.map((content) => {
    const stored = before.get(content.id)
    if (!stored) return [fromContent(content, site, kind), ...textItems(content, site, kind)]
    const text = givenText(kind, content)
    return [
      ...(isSameContent(kind, stored, content) ? [] : [fromContent(content, site, kind)]),
      ...(text === undefined || texts.get(content.id) === text ? [] : textItems(content, site, kind)),
    ]
  })
  await batchWrite(
    batches,
    changes.flat().map((Item): WriteRequest => ({ PutRequest: { Item } })),
  )
  return changes.filter((items) => items.length > 0).length
}

const createReading = (table: Table, batches: BatchOptions): Reading => ({
  // DynamoDB does not tell when a table was last written to.
  state: async () => undefined,

  async get(site, kind, id) {
    const item = await table.get({ kind: partitionOf(site, kind), id })
    return item && toContent(item, site, kind)
  },

  async getMany(site, kind, ids) {
    const items = await readItems(batches, partitionOf(site, kind), ids, false)
    const contents = items.map((item) => toContent(item, site, kind)).filter((content) => content !== undefined)
    return new Map(contents.map((content) => [content.id, content]))
  },

  async existing(site, kind, ids) {
    const items = await batchGet(batches, keysOf(partitionOf(site, kind), ids), {
      ConsistentRead: true,
      ProjectionExpression: '#id, #removed',
      ExpressionAttributeNames: { '#id': 'id', '#removed': removedMark },
    })
    return new Set(items.filter((item) => item[removedMark] !== true).map((item) => Number(item['id'])))
  },

  texts: (site, kind, ids) => readTexts(batches, { site, kind }, ids, false),

  async list(site, kind, after, limit) {
    const items = await readRange(table, rangeOf(site, kind), after, limit)
    return items.map((item) => ({ id: Number(item['id']), content: toContent(item, site, kind) }))
  },

  async listWhole(site, kind, after, limit) {
    const items = await readRange(table, rangeOf(site, kind, true), after, limit)
    const listed = items.map((item) => ({ id: Number(item['id']), content: toContent(item, site, kind) }))
    const member = textMember(kind)
    if (member === undefined) return listed
    const ids = listed.map(({ id }) => id)
    const texts = await readTexts(batches, { site, kind }, ids, true)
    return listed.map(({ id, content }) => ({
      id,
      content: content && { ...content, [member]: texts.get(id) ?? '' },
    }))
  },

  count: (site, kind, after, limit) => countRange(table, rangeOf(site, kind), after, limit),

  async highestId(site, kind) {
    const { items } = await queryPage(table, {
      where: '#kind = :kind',
      values: { ':kind': partitionOf(site, kind) },
      newestFirst: true,
      limit: 1,
      consistent: true,
    })
    return Number(items[0]?.['id'] ?? 0)
  },

  async idsOf(site, kind, after, limit) {
    const items = await readRange(table, rangeOf(site, kind, true), after, limit)
    return items.map((item) => Number(item['id']))
  },
})

const createWriting = (table: Table, batches: BatchOptions): Writing => ({
  async create(site, kind, content) {
    const item = fromContent(content, site, kind)
    if (!(await table.put(item, { condition: 'attribute_not_exists(#id)' }))) return false
    // The text must not come to another content with the same id.
    for (const text of textItems(content, site, kind)) await table.put(text)
    return true
  },

  async putMany(site, kind, contents) {
    const items = contents.flatMap((content) => [fromContent(content, site, kind), ...textItems(content, site, kind)])
    await batchWrite(
      batches,
      items.map((Item): WriteRequest => ({ PutRequest: { Item } })),
    )
  },

  async changeMany(site, kind, ids, apply) {
    let changed = 0
    await inParallel(chunksOf(ids, changedTogether), groupsAtOnce, async (some) => {
      const count = await changeSome(batches, { site, kind }, some, apply)
      changed += count
    })
    return changed
  },

  async deleteMany(site, kind, ids) {
    const deletions = (partition: string) => keysOf(partition, ids).map((Key) => ({ DeleteRequest: { Key } }))
    // The texts first: the repetition of a removal that broke off still finds the items.
    if (textMember(kind) !== undefined) await batchWrite(batches, deletions(textPartitionOf(site, kind)))
    await batchWrite(batches, deletions(partitionOf(site, kind)))
  },

  async markRemoved(site, kind, id) {
    const key = { kind: partitionOf(site, kind), id }
    const update = `SET #${removedMark} = :true`
    return (
      (await table.update(key, { update, condition: 'attribute_exists(#id)', values: { ':true': true } })) !== undefined
    )
  },

  async delete(site, kind, id) {
    // The text first: the repetition of a removal that broke off still finds the marked item.
    if (textMember(kind) !== undefined) await table.delete({ kind: textPartitionOf(site, kind), id })
    await table.delete({ kind: partitionOf(site, kind), id })
  },
})

export const createContentItems = ({ client, table: name, longestStall }: Options): ContentItems => {
  const table = openTable({ dynamodb: client, table: name })
  const batches = { client, name, ...(longestStall !== undefined && { longestStall }) }
  return { ...createReading(table, batches), ...createWriting(table, batches) }
}
