import type { CategoryLinks, LinkList } from '../../categories/category-links.ts'
import type { Contents, SiteObject } from '../../categories/contents.ts'
import { objectKindNames } from '../../core/content-kinds.ts'
import type { CategoryId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type CategoryItems, createCategoryLinks } from './category-links.ts'
import { createContentItems } from './content-items.ts'
import type { TableOptions } from './dynamodb.ts'
import type { RecordChange } from './journal.ts'
import { createLinkItems } from './link-items.ts'

interface Options extends Omit<TableOptions, 'table'> {
  readonly contentTable: string
  readonly categoryLinksTable: string
  readonly record: RecordChange
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
      // The index lags: a link that was written just before the removal began may only show now.
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

    // Links are found through categories, so links are deleted first.
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

/**
 * Contents and their links are in two tables, so no write covers both. A removal flags the object, deletes its links,
 * then deletes the object. A new link is checked, written, and checked again. If a removal came in between, the second
 * check finds its flag and undoes the link.
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
