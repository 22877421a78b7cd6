import { type Content, type Contents, contentReader, type Edit, storedMembers } from '../../categories/contents.ts'
import { type ContentKind, givenText, isSameContent, objectKindNames, textMember } from '../../core/content-kinds.ts'
import type { CategoryId, SiteId } from '../../core/ids.ts'
import { chunksOf, inParallel } from '../../core/in-parallel.ts'
import type { Scalar, Scalars } from '../../core/object-kinds.ts'
import { expression, mapped, openTable, queryItems, queryPages, type Table } from './dynamodb.ts'
import { batchDelete, batchGet, batchPut } from './dynamodb-batches.ts'
import { type RecordingOptions, recordIf } from './journal.ts'
import { countAbove, type KeyRange } from './key-range.ts'
import type { LinkItems } from './link-items.ts'
import { putMarked } from './write-mark.ts'

interface ContentItem {
  readonly kind: string
  readonly id: number
  // True while the content is being removed. The author of a news item sets the member `deleted`, which has another
  // meaning.
  readonly removed?: true
  readonly text?: Scalar | undefined
  readonly mark?: string
  readonly [member: string]: Scalar | undefined
}

interface Items {
  readonly table: Table<ContentItem>
  readonly links: LinkItems
}

const openPartition = (items: Items, site: SiteId, kind: ContentKind) => {
  const name = `${site}#${kind}`
  const member = textMember(kind)
  const toContent = contentReader(site, kind)
  const keyOf = (id: number) => ({ kind: name, id })
  const textKeysOf = (ids: readonly number[]) =>
    member === undefined ? [] : ids.map((id) => ({ kind: `${name}#text`, id }))
  const itemOf = (content: Content): ContentItem => ({ ...storedMembers(content, kind), ...keyOf(content.id) })
  const textItems = (content: Content): ContentItem[] =>
    textKeysOf([content.id]).map((key) => ({ ...key, text: content[member ?? ''] }))
  return {
    ...items,
    site,
    kind,
    name,
    keyOf,
    textKeysOf,
    itemOf,
    textItems,
    itemsOf: (content: Content) => [itemOf(content), ...textItems(content)],
    toContent: ({ kind: _, removed, mark: _mark, ...members }: ContentItem): Content | undefined =>
      removed ? undefined : toContent(members as Scalars),
    rangeOf: (consistent = false): KeyRange => ({
      above: (id) => ({ where: expression`#kind = ${name} AND #id > ${id}`, consistent }),
      idOf: ({ id }) => Number(id),
    }),
  }
}

type Partition = ReturnType<typeof openPartition>

// The items of a group are in memory together, with their long texts.
const changedTogether = 100
const groupsAtOnce = 4
const replacedAtOnce = 16

const readTexts = async ({ table, textKeysOf }: Partition, ids: readonly number[], consistent: boolean) => {
  const items = await batchGet(table, textKeysOf(ids), { consistent })
  return new Map(items.map(({ id, text }) => [id, String(text ?? '')]))
}

const replaceIfUnchanged = ({ table }: Partition, { kind, id, mark }: ContentItem, item: ContentItem) => {
  const isSame = mark ? expression`#mark = ${mark}` : expression`attribute_exists(#id) AND attribute_not_exists(#mark)`
  return putMarked(table, { kind, id }, item, [isSame, expression`attribute_not_exists(#removed)`])
}

// Returns false if another removal was faster, even if there is a new item with this id. Then the new item keeps its
// text.
const deleteFlagged = async ({ table, keyOf, textKeysOf }: Partition, id: number): Promise<boolean> => {
  const [textKey] = textKeysOf([id])
  const text = textKey && (await table.take(textKey))
  if (await table.remove(keyOf(id), { condition: expression`#removed = ${true}` })) return true
  if (text && (await table.get(keyOf(id)))) await table.put(text, { condition: expression`attribute_not_exists(#id)` })
  return false
}

const completeRemoval = async (partition: Partition, id: number): Promise<boolean> => {
  const { links, site, kind } = partition
  if (kind === 'category') await links.deleteIn(site, id as CategoryId)
  else await links.deleteOf({ site, kind, id })
  const isRemoved = await deleteFlagged(partition, id)
  // The index lags: only now may it show a link that was written just before the removal began.
  if (kind !== 'category') await links.deleteOf({ site, kind, id })
  return isRemoved
}

const changeSome = async (partition: Partition, ids: readonly number[], apply: Edit): Promise<number> => {
  const items = await batchGet(partition.table, ids.map(partition.keyOf))
  const stored = new Map(items.map((item) => [item.id, item]))
  const before = new Map(items.map((item) => [item.id, partition.toContent(item)]))
  const after = ids.map((id) => apply(before.get(id), id)).filter((content) => content !== undefined)
  for (const { id } of after) if (stored.get(id)?.removed) await completeRemoval(partition, id)
  const withText = after.filter((content) => before.get(content.id) && givenText(partition.kind, content) !== undefined)
  const textIds = withText.map(({ id }) => id)
  const texts = await readTexts(partition, textIds, true)
  const changes = after.map((content) => {
    const { id } = content
    const old = before.get(id)
    if (!old) return { id, puts: partition.itemsOf(content) }
    const text = givenText(partition.kind, content)
    const puts = text === undefined || texts.get(id) === text ? [] : partition.textItems(content)
    if (isSameContent(partition.kind, old, content)) return { id, puts }
    return { id, puts, replacement: partition.itemOf(content) }
  })
  const overtaken: number[] = []
  await inParallel(changes, replacedAtOnce, async ({ id, replacement }) => {
    const old = stored.get(id)
    if (old && replacement && !(await replaceIfUnchanged(partition, old, replacement))) overtaken.push(id)
  })
  const puts = changes.flatMap((change) => (overtaken.includes(change.id) ? [] : change.puts))
  await batchPut(partition.table, puts)
  // The answer to an overtaken change may have been lost, so it counts even if the repetition changes nothing.
  if (overtaken.length > 0) await changeSome(partition, overtaken, apply)
  return changes.filter((change) => change.replacement || change.puts.length > 0).length
}

const createReading = (partitionOf: (site: SiteId, kind: ContentKind) => Partition) =>
  ({
    state: async () => undefined,

    async get(site, kind, id) {
      const { table, keyOf, toContent } = partitionOf(site, kind)
      return mapped(await table.get(keyOf(id)), toContent)
    },

    async getMany(site, kind, ids) {
      const { table, keyOf, toContent } = partitionOf(site, kind)
      const items = await batchGet(table, ids.map(keyOf), { consistent: false })
      const contents = items.map(toContent).filter((content) => content !== undefined)
      return new Map(contents.map((content) => [content.id, content]))
    },

    async existing(site, kind, ids) {
      const { table, keyOf } = partitionOf(site, kind)
      const items = await batchGet(table, ids.map(keyOf), { columns: ['id', 'removed'] })
      return new Set(items.filter(({ removed }) => !removed).map(({ id }) => id))
    },

    texts: (site, kind, ids, isConsistent = false) => readTexts(partitionOf(site, kind), ids, isConsistent),

    async list(site, kind, after, limit, isConsistent) {
      const { table, rangeOf, toContent } = partitionOf(site, kind)
      const items = await queryItems(table, rangeOf(isConsistent).above(after), limit)
      return items.map((item) => ({ id: item.id, content: toContent(item) }))
    },

    async count(site, kind, after, limit) {
      const { table, rangeOf } = partitionOf(site, kind)
      return countAbove(table, rangeOf(), after, limit)
    },

    async highestId(site, kind) {
      const { table, name } = partitionOf(site, kind)
      const where = expression`#kind = ${name}`
      const [last] = await queryItems(table, { where, newestFirst: true, consistent: true }, 1)
      return last?.id ?? 0
    },
  }) satisfies Partial<Contents>

const categoriesAtOnce = 8

/**
 * The table Content: the categories, news items and blogs of a site. Long texts are separate items. For readers, items
 * with the flag of a removal do not exist.
 */
export const createContents = ({ record, links, ...options }: RecordingOptions & Pick<Items, 'links'>): Contents => {
  const table = openTable<ContentItem>(options)
  const partitionOf = (site: SiteId, kind: ContentKind) => openPartition({ table, links }, site, kind)
  const idPages = ({ rangeOf }: Partition) => queryPages(table, { ...rangeOf(true).above(0), columns: ['id'] })

  return {
    ...createReading(partitionOf),

    async create(site, kind, content, entry) {
      const { itemOf, keyOf, textItems } = partitionOf(site, kind)
      const isFree = expression`attribute_not_exists(#id)`
      if (!(await putMarked(table, keyOf(content.id), itemOf(content), isFree))) return false
      // The text is written only after the item, so that no other item with this id gets the text.
      for (const text of textItems(content)) await table.put(text)
      await record(entry)
      return true
    },

    async putMany(site, kind, contents, entry) {
      await batchPut(table, contents.flatMap(partitionOf(site, kind).itemsOf))
      await record(entry)
    },

    async changeMany(site, kind, ids, apply, entry) {
      let changed = 0
      await inParallel(chunksOf(ids, changedTogether), groupsAtOnce, async (some) => {
        const count = await changeSome(partitionOf(site, kind), some, apply)
        changed += count
      })
      await recordIf(changed > 0, record, entry)
      return changed
    },

    async remove(site, kind, id, entry) {
      const partition = partitionOf(site, kind)
      const flag = { set: { removed: true }, condition: expression`attribute_exists(#id)` }
      const isFlagged = (await table.update(partition.keyOf(id), flag)) !== undefined
      return recordIf(isFlagged && (await completeRemoval(partition, id)), record, entry)
    },

    // Links are found through categories, so the links are deleted before the category.
    async clear(site) {
      for await (const page of idPages(partitionOf(site, 'category'))) {
        await inParallel(page.items, categoriesAtOnce, ({ id }) => links.deleteIn(site, id as CategoryId))
      }
      for (const kind of [...objectKindNames, 'category'] as const) {
        const partition = partitionOf(site, kind)
        for await (const { items } of idPages(partition)) {
          const ids = items.map(({ id }) => id)
          await batchDelete(table, partition.textKeysOf(ids))
          await batchDelete(table, ids.map(partition.keyOf))
        }
      }
    },
  }
}
