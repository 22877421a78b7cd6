import { ServiceError } from '../errors.ts'
import type { SiteId } from '../ids.ts'
import type { ListDeps } from './association-list.ts'
import { categoryShape, type ObjectKind } from './content-kinds.ts'
import type { Listed } from './content-table.ts'
import type { Entry, ListSource } from './list-source.ts'
import type { ListDescription, ListQuery } from './query/list-query.ts'
import { type ListPage, runList } from './run-list.ts'

/** A linked object: the one whose categories are listed. */
export interface LinkedObject {
  readonly site: SiteId
  readonly kind: ObjectKind
  readonly id: number
}

/** The list of a site's categories, for the query language. */
export const categoryList = (site: SiteId): ListDescription => ({ shape: categoryShape, identity: [site, 'category'] })

/** The list of an object's categories, for the query language. */
export const categoriesOfObjectList = (site: SiteId, kind: ObjectKind, id: number): ListDescription => ({
  shape: categoryShape,
  identity: [site, kind, id, 'category'],
})

/** A page of the categories of a site (decisions.md, section 8). Errors: listTooLong. */
export const listCategories = (
  { content, longestList }: ListDeps,
  site: SiteId,
  query: ListQuery,
): Promise<ListPage> => {
  const source: ListSource<Listed> = {
    entries: (after, limit) => content.list(site, 'category', after, limit),
    count: (after, limit) => content.count(site, 'category', after, limit),
    outline: ({ id, content }) => content ?? { id },
    outlines: () => true,
    items: async (entries) => entries.flatMap((entry) => entry.content ?? []),
    finish: async (items) => items,
  }
  return runList(source, query, longestList)
}

/**
 * A page of the categories that a news item or a blog is linked with: the associations the other way round.
 * Errors: objectUnknown, listTooLong.
 */
export const listCategoriesOfObject = async (
  { content, links, longestList }: ListDeps,
  { site, kind, id }: LinkedObject,
  query: ListQuery,
): Promise<ListPage> => {
  const object = await content.get(site, kind, id)
  if (!object) throw new ServiceError('objectUnknown')
  const source: ListSource<Entry> = {
    async entries(after, limit) {
      return (await links.categoriesOf(site, kind, id, after, limit)).map((category) => ({ id: category }))
    },
    count: (after, limit) => links.countCategoriesOf(site, kind, id, after, limit),
    outline: (entry) => ({ id: entry.id }),
    outlines: ({ name }) => name === 'id',
    async items(entries) {
      const categories = await content.getMany(
        site,
        'category',
        entries.map((entry) => entry.id),
      )
      return entries.flatMap((entry) => categories.get(entry.id) ?? [])
    },
    finish: async (items) => items,
  }
  return runList(source, query, longestList)
}
