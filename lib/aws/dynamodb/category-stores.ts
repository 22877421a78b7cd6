import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { CategoryLink, CategoryLinks, LinkList, LinkOutcome } from '../../categories/category-links.ts'
import type { Contents, SiteObject } from '../../categories/contents.ts'
import { type ContentKind, objectKindNames } from '../../core/content-kinds.ts'
import { type Deadline, reserves, unlimited } from '../../core/deadline.ts'
import type { CategoryId, SiteId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type ContentItems, createContentItems } from './content-items.ts'
import type { RecordChange } from './journal.ts'
import { createLinkItems, type LinkItems } from './link-items.ts'
import { createObjectLinks, type MakeLinks } from './object-links.ts'

interface Options {
  readonly dynamodb: DynamoDBDocumentClient
  readonly contentTable: string
  readonly categoryLinksTable: string
  readonly record: RecordChange
  // Milliseconds without progress after which a store counts as unavailable.
  readonly longestStall?: number
}

interface Items {
  readonly contents: ContentItems
  readonly links: LinkItems
}

// Links that are read and deleted together.
const pageLength = 1_000
const categoriesAtOnce = 8

/** Handles all values that `read` answers in order of id, page by page. */
const forEachPage = async <Value>(
  read: (after: number) => Promise<readonly Value[]>,
  idOf: (value: Value) => number,
  handle: (values: readonly Value[]) => Promise<void>,
): Promise<void> => {
  for (let after = 0; ; ) {
    const values = await read(after)
    await handle(values)
    const last = values.at(-1)
    if (last === undefined || values.length < pageLength) return
    after = idOf(last)
  }
}

/**
 * `put` are links whose displayable flag the caller names. `add` are new ones without it, which another request may be
 * naming now.
 */
const changesOf = (
  wanted: ReadonlyMap<number, boolean | undefined>,
  present: ReadonlyMap<number, CategoryLink>,
): { readonly put: readonly CategoryLink[]; readonly add: readonly number[] } => ({
  put: [...wanted].flatMap(([id, displayable]) =>
    displayable === undefined || present.get(id)?.displayable === displayable ? [] : [{ id, displayable }],
  ),
  add: [...wanted].filter(([id, displayable]) => displayable === undefined && !present.has(id)).map(([id]) => id),
})

const categoryExists = async ({ contents }: Items, { site, category }: LinkList): Promise<boolean> =>
  (await contents.get(site, 'category', category)) !== undefined

const createMakeLinks = (items: Items): MakeLinks => {
  const { contents, links } = items

  const undoLinksOfRemoved = async (list: LinkList, written: readonly number[], deadline: Deadline): Promise<void> => {
    using undoing = deadline.reserving(reserves.answer)
    undoing.check()
    const [isThere, existing] = await Promise.all([
      categoryExists(items, list),
      contents.existing(list.site, list.kind, written),
    ])
    await links.deleteMany(list, isThere ? written.filter((id) => !existing.has(id)) : written, undoing)
  }

  return async (list, wanted, deadline) => {
    const ids = [...wanted.keys()]
    const [isThere, existing, present] = await Promise.all([
      categoryExists(items, list),
      contents.existing(list.site, list.kind, ids),
      links.getMany(list, ids),
    ])
    const unknown = ids.filter((id) => !existing.has(id))
    if (!isThere || unknown.length > 0) {
      // A request that died between its writes and its second look has left them.
      const leftOver = [...present.keys()].filter((id) => !isThere || !existing.has(id))
      if (leftOver.length > 0) await undoLinksOfRemoved(list, leftOver, deadline)
      const outcome: LinkOutcome = isThere
        ? { outcome: 'objects unknown', ids: new Set(unknown) }
        : { outcome: 'category unknown' }
      return { outcome, hasChanged: false }
    }
    const { put, add } = changesOf(wanted, present)
    const changed = [...put.map(({ id }) => id), ...add]
    if (changed.length === 0) return { outcome: { outcome: 'linked' }, hasChanged: false }
    try {
      using writing = deadline.reserving(reserves.settle)
      await links.putMany(list, put, writing)
      await links.addMany(list, add, writing)
    } finally {
      // Also after a failure: some may have been written.
      await undoLinksOfRemoved(list, changed, deadline)
    }
    return { outcome: { outcome: 'linked' }, hasChanged: true }
  }
}

type Removing = Pick<Contents, 'removeObject' | 'removeCategory' | 'clear'>

const createRemoving = ({ contents, links }: Items, record: RecordChange): Removing => {
  const deleteLinksIn = (list: LinkList): Promise<void> =>
    forEachPage(
      (after) => links.listConsistently(list, after, pageLength),
      ({ id }) => id,
      (some) => {
        const ids = some.map(({ id }) => id)
        return links.deleteMany(list, ids)
      },
    )

  const deleteLinksOf = (object: SiteObject): Promise<void> =>
    forEachPage(
      (after) => links.categoriesOf(object, after, pageLength),
      (category) => category,
      (categories) => links.deleteOfObject(object, categories),
    )

  const forAllIds = (site: SiteId, kind: ContentKind, handle: (ids: readonly number[]) => Promise<void>) =>
    forEachPage(
      (after) => contents.idsOf(site, kind, after, pageLength),
      (id) => id,
      handle,
    )

  return {
    async removeObject(object, entry) {
      const { site, kind, id } = object
      if (!(await contents.markRemoved(site, kind, id))) return false
      await deleteLinksOf(object)
      await contents.delete(site, kind, id)
      // The index lags: a link that was written just before the mark may only show now.
      await deleteLinksOf(object)
      await record(entry)
      return true
    },

    async removeCategory(site, category, entry) {
      if (!(await contents.markRemoved(site, 'category', category))) return false
      for (const kind of objectKindNames) await deleteLinksIn({ site, kind, category })
      await contents.delete(site, 'category', category)
      await record(entry)
      return true
    },

    // Links are found through categories, so links go first.
    async clear(site) {
      await forAllIds(site, 'category', (ids) =>
        inParallel(ids, categoriesAtOnce, async (id) => {
          for (const kind of objectKindNames) await deleteLinksIn({ site, kind, category: id as CategoryId })
        }),
      )
      for (const kind of [...objectKindNames, 'category'] as const) {
        await forAllIds(site, kind, (ids) => contents.deleteMany(site, kind, ids))
      }
    },
  }
}

const withHistory = (contents: ContentItems, record: RecordChange): Omit<Contents, keyof Removing> => ({
  ...contents,

  async create(site, kind, content, entry) {
    if (!(await contents.create(site, kind, content))) return false
    await record(entry)
    return true
  },

  async putMany(site, kind, some, entry) {
    await contents.putMany(site, kind, some)
    await record(entry)
  },

  async changeMany(site, kind, ids, apply, entry) {
    const changed = await contents.changeMany(site, kind, ids, apply)
    if (changed > 0) await record(entry)
    return changed
  },
})

/**
 * Contents and their links are in two tables, and no write touches both. A removal marks the object, deletes its links,
 * and deletes the object. A link is checked, written, and checked once more: one that was written too late for the
 * removal finds the mark and is taken back.
 */
export const createCategoryStores = ({
  dynamodb: client,
  contentTable,
  categoryLinksTable,
  record,
  ...options
}: Options): { readonly contents: Contents; readonly links: CategoryLinks } => {
  const contents = createContentItems({ client, table: contentTable, ...options })
  const links = createLinkItems({ client, table: categoryLinksTable, ...options })
  const items = { contents, links }
  const makeLinks = createMakeLinks(items)

  return {
    contents: { ...withHistory(contents, record), ...createRemoving(items, record) },

    links: {
      ...links,

      async link(list, wanted, entry, deadline = unlimited) {
        const { outcome, hasChanged } = await makeLinks(list, wanted, deadline)
        if (hasChanged) await record(entry, deadline)
        return outcome
      },

      async unlink(list, ids, entry, deadline = unlimited) {
        if (!(await categoryExists(items, list))) return false
        using deleting = deadline.reserving(reserves.settle)
        await links.deleteMany(list, [...new Set(ids)], deleting)
        await record(entry, deadline)
        return true
      },

      ...createObjectLinks({ contents, linkItems: links, makeLinks, record }),
    },
  }
}
