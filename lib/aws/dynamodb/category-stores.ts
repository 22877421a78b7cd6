import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { CategoryLinks, LinkList } from '../../categories/category-links.ts'
import type { Contents, SiteObject } from '../../categories/contents.ts'
import { objectKindNames } from '../../core/content-kinds.ts'
import { reserves, unlimited } from '../../core/deadline.ts'
import type { CategoryId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type ContentItems, createContentItems } from './content-items.ts'
import type { RecordChange } from './journal.ts'
import { createLinkItems } from './link-items.ts'
import { type CategoryItems, categoryExists, makeLinks } from './make-links.ts'
import { createObjectLinks } from './object-links.ts'

interface Options {
  readonly dynamodb: DynamoDBDocumentClient
  readonly contentTable: string
  readonly categoryLinksTable: string
  readonly record: RecordChange
  // Milliseconds without progress after which a store counts as unavailable.
  readonly longestStall?: number
}

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

const withHistory = (contents: ContentItems, record: RecordChange): Omit<Contents, keyof ContentRemoval> => ({
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
  contentTable,
  categoryLinksTable,
  record,
  ...options
}: Options): { readonly contents: Contents; readonly links: CategoryLinks } => {
  const contents = createContentItems({ ...options, table: contentTable })
  const links = createLinkItems({ ...options, table: categoryLinksTable })
  const items = { contents, links }

  return {
    contents: { ...withHistory(contents, record), ...createContentRemoval(items, record) },

    links: {
      ...links,

      async link(list, wanted, entry, deadline = unlimited) {
        const { outcome, hasChanged } = await makeLinks(items, list, wanted, deadline)
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

      ...createObjectLinks(items, record),
    },
  }
}
