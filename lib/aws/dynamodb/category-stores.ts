import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { CategoryLink, CategoryLinks, LinkList, LinkOutcome } from '../../categories/category-links.ts'
import type { Contents, SiteObject } from '../../categories/contents.ts'
import { type ContentKind, objectKindNames } from '../../core/content-kinds.ts'
import type { CategoryId, SiteId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { unlimited } from '../../core/remaining-time.ts'
import { type Allowance, inTime, timeToAnswer, timeToSettle } from '../calls/in-time.ts'
import { createContentItems } from './content-items.ts'
import type { RecordChange } from './journal.ts'
import { createLinkItems } from './link-items.ts'
import { createObjectLinks, type MakeLinks } from './object-links.ts'

interface Options {
  readonly dynamodb: DynamoDBDocumentClient
  readonly contentTable: string
  readonly categoryLinksTable: string
  readonly record: RecordChange
  /** How long a busy store is tried again, in milliseconds. */
  readonly patience?: number
}

/** How many links are read and deleted together. */
const step = 1_000
/** Of how many categories at once the links go when a site does. */
const categoriesAtOnce = 8

/** Walks over what `read` answers in order of id, a step at a time. */
const inSteps = async <Value>(
  read: (after: number) => Promise<readonly Value[]>,
  idOf: (value: Value) => number,
  handle: (values: readonly Value[]) => Promise<void>,
): Promise<void> => {
  for (let after = 0; ; ) {
    const values = await read(after)
    await handle(values)
    const last = values.at(-1)
    if (last === undefined || values.length < step) return
    after = idOf(last)
  }
}

/**
 * The links to be written: `put` are those about which the caller says whether they are displayable, new or changed; `add` are new ones about
 * which nobody has said so, and which another request may be making displayable or not at this moment.
 */
const changes = (
  wanted: ReadonlyMap<number, boolean | undefined>,
  present: ReadonlyMap<number, CategoryLink>,
): { readonly put: readonly CategoryLink[]; readonly add: readonly number[] } => ({
  put: [...wanted].flatMap(([id, displayable]) =>
    displayable === undefined || present.get(id)?.displayable === displayable ? [] : [{ id, displayable }],
  ),
  add: [...wanted].filter(([id, displayable]) => displayable === undefined && !present.has(id)).map(([id]) => id),
})

/**
 * Contents and their links in two tables, which must agree although no write touches both. Whoever removes something marks it first,
 * deletes the links that there are, and deletes it then. Whoever links checks first, writes, and looks once more: a link that was written too
 * late to be deleted was written after the mark, so the second look finds the mark and takes the link back. What is left is as if
 * the objects had been linked first and removed then.
 */
export const createCategoryStores = ({
  dynamodb: client,
  contentTable,
  categoryLinksTable,
  record,
  patience,
}: Options): { readonly contents: Contents; readonly links: CategoryLinks } => {
  const patient = patience === undefined ? {} : { patience }
  const {
    markRemoved,
    delete: deleteContent,
    idsOf,
    deleteMany: deleteContents,
    ...contents
  } = createContentItems({ client, table: contentTable, ...patient })
  const links = createLinkItems({ client, table: categoryLinksTable, ...patient })

  const categoryExists = async ({ site, category }: LinkList): Promise<boolean> =>
    (await contents.get(site, 'category', category)) !== undefined

  const undoLinksOfRemoved = async (
    list: LinkList,
    written: readonly number[],
    allowance: Allowance,
  ): Promise<void> => {
    const [isThere, existing] = await Promise.all([
      categoryExists(list),
      contents.existing(list.site, list.kind, written),
    ])
    await links.deleteMany(list, isThere ? written.filter((id) => !existing.has(id)) : written, allowance)
  }

  const deleteLinksIn = (list: LinkList): Promise<void> =>
    inSteps(
      (after) => links.listConsistently(list, after, step),
      ({ id }) => id,
      (some) =>
        links.deleteMany(
          list,
          some.map(({ id }) => id),
        ),
    )

  /** Does something with all ids of a kind of content, of what is being removed as well. */
  const forAllIds = (site: SiteId, kind: ContentKind, handle: (ids: readonly number[]) => Promise<void>) =>
    inSteps(
      (after) => idsOf(site, kind, after, step),
      (id) => id,
      handle,
    )

  const deleteLinksOf = (object: SiteObject): Promise<void> =>
    inSteps(
      (after) => links.categoriesOf(object, after, step),
      (category) => category,
      (categories) => links.deleteOfObject(object, categories),
    )

  const makeLinks: MakeLinks = async (list, wanted, remainingTime) => {
    const undo = (written: readonly number[]) =>
      inTime(remainingTime, timeToAnswer, (allowance) => undoLinksOfRemoved(list, written, allowance))
    const ids = [...wanted.keys()]
    const [isThere, existing, present] = await Promise.all([
      categoryExists(list),
      contents.existing(list.site, list.kind, ids),
      links.getMany(list, ids),
    ])
    const unknown = ids.filter((id) => !existing.has(id))
    if (!isThere || unknown.length > 0) {
      // Links of what is gone can only be left over from a request that died between its writes and its second look.
      const leftOver = [...present.keys()].filter((id) => !isThere || !existing.has(id))
      if (leftOver.length > 0) await undo(leftOver)
      const outcome: LinkOutcome = isThere
        ? { outcome: 'objects unknown', ids: new Set(unknown) }
        : { outcome: 'category unknown' }
      return { outcome, hasChanged: false }
    }
    const { put, add } = changes(wanted, present)
    const changed = [...put.map(({ id }) => id), ...add]
    if (changed.length === 0) return { outcome: { outcome: 'linked' }, hasChanged: false }
    try {
      await inTime(remainingTime, timeToSettle, async (allowance) => {
        await links.putMany(list, put, allowance)
        await links.addMany(list, add, allowance)
      })
    } finally {
      // Also of those that were written when the time was up.
      await undo(changed)
    }
    return { outcome: { outcome: 'linked' }, hasChanged: true }
  }

  return {
    contents: {
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

      async removeObject(object, entry) {
        const { site, kind, id } = object
        if (!(await markRemoved(site, kind, id))) return false
        await deleteLinksOf(object)
        await deleteContent(site, kind, id)
        // The index lags behind: a link that was written just before the mark may only show now.
        await deleteLinksOf(object)
        await record(entry)
        return true
      },

      async removeCategory(site, category, entry) {
        if (!(await markRemoved(site, 'category', category))) return false
        for (const kind of objectKindNames) {
          await deleteLinksIn({ site, kind, category })
        }
        await deleteContent(site, 'category', category)
        await record(entry)
        return true
      },

      // Links are found by their categories: these go last.
      async clear(site) {
        await forAllIds(site, 'category', (ids) =>
          inParallel(ids, categoriesAtOnce, async (id) => {
            for (const kind of objectKindNames) await deleteLinksIn({ site, kind, category: id as CategoryId })
          }),
        )
        for (const kind of [...objectKindNames, 'category'] as const) {
          await forAllIds(site, kind, (ids) => deleteContents(site, kind, ids))
        }
      },
    },

    links: {
      ...links,

      async link(list, wanted, entry, remainingTime = unlimited) {
        const { outcome, hasChanged } = await makeLinks(list, wanted, remainingTime)
        if (hasChanged) await record(entry, remainingTime)
        return outcome
      },

      async unlink(list, ids, entry, remainingTime = unlimited) {
        if (!(await categoryExists(list))) return false
        await inTime(remainingTime, timeToSettle, (allowance) => links.deleteMany(list, [...new Set(ids)], allowance))
        await record(entry, remainingTime)
        return true
      },

      ...createObjectLinks({ contents, linkItems: links, makeLinks, record }),
    },
  }
}
