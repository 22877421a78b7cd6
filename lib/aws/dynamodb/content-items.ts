import { type Content, type Contents, contentReader, storedMembers } from '../../categories/contents.ts'
import { type ContentKind, givenText, isSameContent, textMember } from '../../core/content-kinds.ts'
import type { SiteId } from '../../core/ids.ts'
import { chunksOf, inParallel } from '../../core/in-parallel.ts'
import type { Scalar, Scalars } from '../../core/object-kinds.ts'
import { expression, mapped, openTable, queryItems, type Table } from './dynamodb.ts'
import { batchDelete, batchGet, batchPut } from './dynamodb-batches.ts'
import { type RecordChange, type RecordingOptions, recordIf } from './journal.ts'
import { countRange, rangeOfIds, rangePages, readRange } from './key-range.ts'
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
type ContentTable = Table<ContentItem>

const partitionOf = (site: SiteId, kind: ContentKind) => `${site}#${kind}`
const textPartitionOf = (site: SiteId, kind: ContentKind) => `${site}#${kind}#text`
const keysOf = (partition: string, ids: readonly number[]) => ids.map((id) => ({ kind: partition, id }))

const rangeOf = (site: SiteId, kind: ContentKind, consistent = false) =>
  rangeOfIds('kind', partitionOf(site, kind), consistent)

const itemReader = (site: SiteId, kind: ContentKind) => {
  const toContent = contentReader(site, kind)
  return ({ kind: _, removed, mark: _mark, ...members }: ContentItem): Content | undefined =>
    removed ? undefined : toContent(members as Scalars)
}

const fromContent = (content: Content, site: SiteId, kind: ContentKind): ContentItem => ({
  ...storedMembers(content, kind),
  id: content.id,
  kind: partitionOf(site, kind),
})

const textItems = (content: Content, site: SiteId, kind: ContentKind): ContentItem[] => {
  const member = textMember(kind)
  if (member === undefined) return []
  return [{ kind: textPartitionOf(site, kind), id: content.id, text: content[member] }]
}

const itemsOf = (content: Content, site: SiteId, kind: ContentKind): ContentItem[] => [
  fromContent(content, site, kind),
  ...textItems(content, site, kind),
]

// The items of a group are in memory together, with their long texts.
const changedTogether = 100
const groupsAtOnce = 4
const replacedAtOnce = 16

const readTexts = async (
  table: ContentTable,
  { site, kind }: { readonly site: SiteId; readonly kind: ContentKind },
  ids: readonly number[],
  consistent: boolean,
) => {
  const items = await batchGet(table, keysOf(textPartitionOf(site, kind), ids), { consistent })
  return new Map(items.map(({ id, text }) => [id, String(text ?? '')]))
}

type CompleteRemoval = (site: SiteId, kind: ContentKind, id: number) => Promise<unknown>

const replaceIfUnchanged = (table: ContentTable, { kind, id, mark }: ContentItem, item: ContentItem) => {
  const isSame = mark ? expression`#mark = ${mark}` : expression`attribute_exists(#id) AND attribute_not_exists(#mark)`
  return putMarked(table, { kind, id }, item, [isSame, expression`attribute_not_exists(#removed)`])
}

const changeSome = async (
  table: ContentTable,
  { site, kind }: { readonly site: SiteId; readonly kind: ContentKind },
  ids: readonly number[],
  apply: Parameters<Contents['changeMany']>[3],
  completeRemoval: CompleteRemoval,
): Promise<number> => {
  const items = await batchGet(table, keysOf(partitionOf(site, kind), ids))
  const stored = new Map(items.map((item) => [item.id, item]))
  const toContent = itemReader(site, kind)
  const before = new Map(items.map((item) => [item.id, toContent(item)]))
  const after = ids.map((id) => apply(before.get(id), id)).filter((content) => content !== undefined)
  for (const { id } of after) if (stored.get(id)?.removed) await completeRemoval(site, kind, id)
  const withText = after.filter((content) => before.get(content.id) && givenText(kind, content) !== undefined)
  const textIds = withText.map(({ id }) => id)
  const texts = await readTexts(table, { site, kind }, textIds, true)
  const changes = after.map((content) => {
    const { id } = content
    const old = before.get(id)
    if (!old) return { id, puts: itemsOf(content, site, kind) }
    const text = givenText(kind, content)
    const puts = text === undefined || texts.get(id) === text ? [] : textItems(content, site, kind)
    if (isSameContent(kind, old, content)) return { id, puts }
    return { id, puts, replacement: fromContent(content, site, kind) }
  })
  const overtaken: number[] = []
  await inParallel(changes, replacedAtOnce, async ({ id, replacement }) => {
    const old = stored.get(id)
    if (old && replacement && !(await replaceIfUnchanged(table, old, replacement))) overtaken.push(id)
  })
  const puts = changes.flatMap((change) => (overtaken.includes(change.id) ? [] : change.puts))
  await batchPut(table, puts)
  // The answer to an overtaken change may have been lost, so it counts even if the repetition changes nothing.
  if (overtaken.length > 0) await changeSome(table, { site, kind }, overtaken, apply, completeRemoval)
  return changes.filter((change) => change.replacement || change.puts.length > 0).length
}

const createReading = (table: ContentTable) =>
  ({
    state: async () => undefined,

    get: async (site, kind, id) =>
      mapped(await table.get({ kind: partitionOf(site, kind), id }), itemReader(site, kind)),

    async getMany(site, kind, ids) {
      const items = await batchGet(table, keysOf(partitionOf(site, kind), ids), { consistent: false })
      const contents = items.map(itemReader(site, kind)).filter((content) => content !== undefined)
      return new Map(contents.map((content) => [content.id, content]))
    },

    async existing(site, kind, ids) {
      const items = await batchGet(table, keysOf(partitionOf(site, kind), ids), { columns: ['id', 'removed'] })
      return new Set(items.filter(({ removed }) => !removed).map(({ id }) => id))
    },

    texts: (site, kind, ids, isConsistent = false) => readTexts(table, { site, kind }, ids, isConsistent),

    async list(site, kind, after, limit, isConsistent) {
      const items = await readRange(table, rangeOf(site, kind, isConsistent), after, limit)
      const toContent = itemReader(site, kind)
      return items.map((item) => ({ id: item.id, content: toContent(item) }))
    },

    count: (site, kind, after, limit) => countRange(table, rangeOf(site, kind), after, limit),

    async highestId(site, kind) {
      const where = expression`#kind = ${partitionOf(site, kind)}`
      const [last] = await queryItems(table, { where, newestFirst: true, consistent: true }, 1)
      return last?.id ?? 0
    },
  }) satisfies Partial<Contents>

const createWriting = (table: ContentTable, record: RecordChange) =>
  ({
    async create(site, kind, content, entry) {
      const item = fromContent(content, site, kind)
      const key = { kind: item.kind, id: item.id }
      if (!(await putMarked(table, key, item, expression`attribute_not_exists(#id)`))) return false
      // The text is written only after the item, so that no other item with this id gets the text.
      for (const text of textItems(content, site, kind)) await table.put(text)
      await record(entry)
      return true
    },

    async putMany(site, kind, contents, entry) {
      const items = contents.flatMap((content) => itemsOf(content, site, kind))
      await batchPut(table, items)
      await record(entry)
    },

    async changeMany(
      [site, kind, ids, apply, entry]: Parameters<Contents['changeMany']>,
      completeRemoval: CompleteRemoval,
    ): Promise<number> {
      let changed = 0
      await inParallel(chunksOf(ids, changedTogether), groupsAtOnce, async (some) => {
        const count = await changeSome(table, { site, kind }, some, apply, completeRemoval)
        changed += count
      })
      await recordIf(changed > 0, record, entry)
      return changed
    },
  }) satisfies Partial<Omit<Contents, 'changeMany'>> & Readonly<Record<string, unknown>>

// Texts are deleted before their items: if the removal is interrupted, its repetition still finds the items.
const createDeleting = (table: ContentTable) => ({
  // Yields all ids, even those of items that are being removed. Reads consistently.
  async *idPages(site: SiteId, kind: ContentKind): AsyncGenerator<readonly number[], void> {
    for await (const items of rangePages(table, rangeOf(site, kind, true))) yield items.map(({ id }) => id)
  },

  async flagRemoved(site: SiteId, kind: ContentKind, id: number): Promise<boolean> {
    const key = { kind: partitionOf(site, kind), id }
    return (
      (await table.update(key, { set: { removed: true }, condition: expression`attribute_exists(#id)` })) !== undefined
    )
  },

  async deleteMany(site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<void> {
    if (textMember(kind) !== undefined) await batchDelete(table, keysOf(textPartitionOf(site, kind), ids))
    await batchDelete(table, keysOf(partitionOf(site, kind), ids))
  },

  // Returns false if another removal was faster, even if there is a new item with this id. Then the new item keeps its
  // text.
  async deleteFlagged(site: SiteId, kind: ContentKind, id: number): Promise<boolean> {
    const key = { kind: partitionOf(site, kind), id }
    const text = textMember(kind) && (await table.take({ kind: textPartitionOf(site, kind), id }))
    if (await table.remove(key, { condition: expression`#removed = ${true}` })) return true
    if (text && (await table.get(key))) await table.put(text, { condition: expression`attribute_not_exists(#id)` })
    return false
  },
})

/**
 * The table Content: the categories, news items and blogs of a site. Long texts are separate items. For readers, items
 * with the flag of a removal do not exist.
 */
export const createContentItems = ({ record, ...options }: RecordingOptions) => {
  const table = openTable<ContentItem>(options)
  return { ...createReading(table), ...createWriting(table, record), ...createDeleting(table) }
}

export type ContentItems = ReturnType<typeof createContentItems>
