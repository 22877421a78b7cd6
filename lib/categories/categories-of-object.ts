import { type Json, toJson } from '../core/answer-size.ts'
import { contentShape, type ObjectKind } from '../core/content-kinds.ts'
import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import type { ListDeps } from './association-list.ts'
import type { SiteObject } from './contents.ts'
import type { Entry, ListSource } from './excerpt.ts'
import type { ListDescription, ListQuery } from './query/list-query.ts'
import { type ItemPage, runList } from './run-list.ts'

/** The list of an object's categories, for the query language. */
export const categoriesOfObjectList = (site: SiteId, kind: ObjectKind, id: number): ListDescription => ({
  shape: contentShape('category'),
  identity: [site, kind, id, 'category'],
})

/**
 * A page of the categories that a news item or a blog is linked with: the associations the other way round.
 * Errors: objectUnknown, listTooLong.
 */
export const listCategoriesOfObject = async (
  { contents, links, longestList }: ListDeps,
  object: SiteObject,
  query: ListQuery,
): Promise<Json<ItemPage>> => {
  const { site, kind, id } = object
  if (!(await contents.get(site, kind, id))) throw new ServiceError('objectUnknown')
  const source: ListSource<Entry> = {
    async entries(after, limit) {
      return (await links.categoriesOf(object, after, limit)).map((category) => ({ id: category }))
    },
    count: (after, limit) => links.countCategoriesOf(object, after, limit),
    outline: (entry) => ({ id: entry.id }),
    outlines: ({ name }) => name === 'id',
    async items(entries) {
      const categories = await contents.getMany(
        site,
        'category',
        entries.map((entry) => entry.id),
      )
      return entries.flatMap((entry) => categories.get(entry.id) ?? [])
    },
    write: async (items, fields) => items.map((item) => toJson(fields.select(item))),
  }
  return runList(source, query, longestList)
}
