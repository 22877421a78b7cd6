import type { CategoryLink, CategoryLinks, LinkList } from '../../categories/category-links.ts'
import type { Contents, SiteObject } from '../../categories/contents.ts'
import { objectKindNames } from '../../core/content-kinds.ts'
import { type Deadline, reserves, unlimited } from '../../core/deadline.ts'
import type { CategoryId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type ContentItems, createContentItems } from './content-items.ts'
import type { RecordChange, RecordingOptions } from './journal.ts'
import { createLinkItems, type LinkItems } from './link-items.ts'

interface CategoryItems {
  readonly contents: ContentItems
  readonly links: LinkItems
}

type Wanted = ReadonlyMap<number, boolean | undefined>

const linksAtOnce = 16

// `put` contains links whose flag `displayable` is from the caller. `add` contains new links without a flag from the
// caller. Another request may set this flag at this moment.
const changesOf = (wanted: Wanted, present: ReadonlyMap<number, CategoryLink>) => ({
  put: [...wanted].flatMap(([id, displayable]): CategoryLink[] =>
    displayable === undefined || present.get(id)?.displayable === displayable ? [] : [{ id, displayable }],
  ),
  add: [...wanted].filter(([id, displayable]) => displayable === undefined && !present.has(id)).map(([id]) => id),
})

const categoryExists = async ({ contents }: CategoryItems, { site, category }: LinkList): Promise<boolean> =>
  (await contents.get(site, 'category', category)) !== undefined

const undoLinksOfRemoved = async (
  items: CategoryItems,
  list: LinkList,
  written: readonly number[],
  deadline: Deadline,
): Promise<void> => {
  using undoing = deadline.reserving(reserves.answer)
  undoing.check()
  const [isThere, existing] = await Promise.all([
    categoryExists(items, list),
    items.contents.existing(list.site, list.kind, written),
  ])
  await items.links.deleteMany(list, isThere ? written.filter((id) => !existing.has(id)) : written, undoing)
}

interface Addition {
  readonly list: LinkList
  readonly wanted: Wanted
  readonly present: ReadonlyMap<number, CategoryLink>
}

// Writes the missing links, then checks both ends of each link again. An undone link was visible for a moment, so the
// history records it, too.
const addLinks = async (
  items: CategoryItems,
  additions: readonly Addition[],
  deadline: Deadline,
  record: () => Promise<void>,
): Promise<void> => {
  const changes = additions
    .map(({ list, wanted, present }) => ({ list, ...changesOf(wanted, present) }))
    .filter(({ put, add }) => put.length + add.length > 0)
  if (changes.length === 0) return
  const lookAgain = () =>
    inParallel(changes, linksAtOnce, ({ list, put, add }) =>
      undoLinksOfRemoved(items, list, [...put.map(({ id }) => id), ...add], deadline),
    )
  try {
    using writing = deadline.reserving(reserves.settle)
    await inParallel(changes, linksAtOnce, async ({ list, put, add }) => {
      await items.links.putMany(list, put, writing)
      await items.links.addMany(list, add, writing)
    })
  } catch (error) {
    // The call failed, but some links may have been written.
    await lookAgain()
    throw error
  }
  const recorded = record()
  await lookAgain().finally(() => recorded)
}

// Links from the side of the object (C-46): checks the object and all categories first, then makes each link as `link`
// does. A failure may leave some of the links, and repeating the call completes them.
const createObjectLinks = (
  items: CategoryItems,
  record: RecordChange,
): Pick<CategoryLinks, 'linkObject' | 'unlinkObject'> => {
  const { contents, links } = items

  const findRefusal = async ({ site, kind, id }: SiteObject, categories: readonly CategoryId[]) => {
    const [object, existing] = await Promise.all([
      contents.get(site, kind, id),
      contents.existing(site, 'category', categories),
    ])
    if (!object) return { outcome: 'object unknown' } as const
    const unknown = categories.filter((category) => !existing.has(category))
    return unknown.length > 0 ? ({ outcome: 'categories unknown', ids: new Set(unknown) } as const) : undefined
  }

  return {
    async linkObject(object, wanted, entry, deadline = unlimited) {
      const { site, kind, id } = object
      const additions: Addition[] = []
      const [refusal] = await Promise.all([
        findRefusal(object, [...wanted.keys()]),
        inParallel(wanted, linksAtOnce, async ([category, displayable]) => {
          const list = { site, kind, category }
          additions.push({ list, wanted: new Map([[id, displayable]]), present: await links.getMany(list, [id]) })
        }),
      ])
      if (refusal) return refusal
      await addLinks(items, additions, deadline, () => record(entry, deadline))
      return { outcome: 'done' }
    },

    async unlinkObject(object, categories, entry, deadline = unlimited) {
      const refusal = await findRefusal(object, categories)
      if (refusal) return refusal
      using deleting = deadline.reserving(reserves.settle)
      await links.deleteOfObject(object, categories, deleting)
      await record(entry, deadline)
      return { outcome: 'done' }
    },
  }
}

const createCategoryLinks = (items: CategoryItems, record: RecordChange): CategoryLinks => ({
  ...items.links,
  ...createObjectLinks(items, record),

  async link(list, wanted, entry, deadline = unlimited) {
    const ids = [...wanted.keys()]
    const [isThere, existing, present] = await Promise.all([
      categoryExists(items, list),
      items.contents.existing(list.site, list.kind, ids),
      items.links.getMany(list, ids),
    ])
    const unknown = ids.filter((id) => !existing.has(id))
    if (!isThere || unknown.length > 0) {
      // These links exist because an earlier request ended after its writes, before it checked both ends of its links
      // again.
      const leftOver = [...present.keys()].filter((id) => !isThere || !existing.has(id))
      if (leftOver.length > 0) await undoLinksOfRemoved(items, list, leftOver, deadline)
      return isThere ? { outcome: 'objects unknown', ids: new Set(unknown) } : { outcome: 'category unknown' }
    }
    await addLinks(items, [{ list, wanted, present }], deadline, () => record(entry, deadline))
    return { outcome: 'linked' }
  },

  async unlink(list, ids, entry, deadline = unlimited) {
    if (!(await categoryExists(items, list))) return false
    using deleting = deadline.reserving(reserves.settle)
    await items.links.deleteMany(list, [...new Set(ids)], deleting)
    await record(entry, deadline)
    return true
  },
})

const categoriesAtOnce = 8

type ContentRemoval = Pick<Contents, 'removeObject' | 'removeCategory' | 'clear'>

const createContentRemoval = ({ contents, links }: CategoryItems, record: RecordChange): ContentRemoval => {
  const deleteLinksIn = async (list: LinkList): Promise<void> => {
    for await (const ids of links.idPages(list)) await links.deleteMany(list, ids)
  }

  const deleteLinksOf = async (object: SiteObject): Promise<void> => {
    for await (const categories of links.categoryPages(object)) await links.deleteOfObject(object, categories)
  }

  return {
    async removeObject(object, entry) {
      const { site, kind, id } = object
      if (!(await contents.flagRemoved(site, kind, id))) return false
      await deleteLinksOf(object)
      await contents.delete(site, kind, id)
      // The index lags: only now may it show a link that was written just before the removal began.
      await deleteLinksOf(object)
      await record(entry)
      return true
    },

    async removeCategory(site, category, entry) {
      if (!(await contents.flagRemoved(site, 'category', category))) return false
      for (const kind of objectKindNames) await deleteLinksIn({ site, kind, category })
      await contents.delete(site, 'category', category)
      await record(entry)
      return true
    },

    // Links are found through categories, so the links are deleted before the category.
    async clear(site) {
      for await (const categories of contents.idPages(site, 'category')) {
        await inParallel(categories, categoriesAtOnce, async (id) => {
          for (const kind of objectKindNames) await deleteLinksIn({ site, kind, category: id as CategoryId })
        })
      }
      for (const kind of [...objectKindNames, 'category'] as const) {
        for await (const ids of contents.idPages(site, kind)) await contents.deleteMany(site, kind, ids)
      }
    },
  }
}

interface Options extends Omit<RecordingOptions, 'table'> {
  readonly contentTable: string
  readonly categoryLinksTable: string
}

/**
 * Contents and their links are in two tables, so no write covers both. A removal flags the object, deletes its links,
 * then deletes the object. A new link is checked, written, and checked again. If a removal began between the two
 * checks, the second check finds the flag of the removal and undoes the link.
 */
export const createCategoryStores = ({
  contentTable,
  categoryLinksTable,
  record,
  ...options
}: Options): { readonly contents: Contents; readonly links: CategoryLinks } => {
  const items = {
    contents: createContentItems({ ...options, table: contentTable, record }),
    links: createLinkItems({ ...options, table: categoryLinksTable }),
  }
  return {
    contents: { ...items.contents, ...createContentRemoval(items, record) },
    links: createCategoryLinks(items, record),
  }
}
