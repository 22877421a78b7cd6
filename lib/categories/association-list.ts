import type { Json } from '../core/answer-size.ts'
import { type associationMembers, associationShape, type ObjectKind, textMember } from '../core/content-kinds.ts'
import { ServiceError } from '../core/errors.ts'
import type { CategoryId, SiteId } from '../core/ids.ts'
import type { Item, Scalars, ValuesOf } from '../core/item-shape.ts'
import { objectKinds } from '../core/object-kinds.ts'
import type { CategoryLink, CategoryLinks, LinkList } from './category-links.ts'
import type { Content, Contents } from './contents.ts'
import type { ListSource } from './excerpt.ts'
import { writeItems } from './long-texts.ts'
import type { ListDescription, ListQuery } from './query/list-query.ts'
import { type ItemPage, runList } from './run-list.ts'

export interface ListDeps {
  readonly contents: Contents
  readonly links: CategoryLinks
  /** Over how many objects a list is filtered or sorted as a whole. */
  readonly longestList: number
}

/** The list of a category's objects of one kind, for the query language. */
export const associationList = (site: SiteId, category: CategoryId, kind: ObjectKind): ListDescription => ({
  shape: associationShape(kind),
  identity: [site, kind, category],
})

const idOf = (item: Item): number => Number(item['objectId'])

const withText = (item: Item, kind: ObjectKind, member: string, text: string): Item => {
  const object = item[kind]
  return typeof object === 'object' && object !== null ? { ...item, [kind]: { ...object, [member]: text } } : item
}

const associationSource = (
  { contents, links }: ListDeps,
  list: LinkList,
  category: Content,
): ListSource<CategoryLink> => {
  const { site, kind } = list
  const text = textMember(kind)
  const shownCategory: Scalars = category

  const outline = ({ id, displayable }: CategoryLink): ValuesOf<typeof associationMembers> => ({
    objectId: id,
    categoryId: list.category,
    objectType: objectKinds[kind].type,
    displayable: displayable ? 1 : 0,
    siteId: site,
  })

  const readTexts = async (items: readonly Item[], member: string): Promise<Item[]> => {
    const texts = await contents.texts(site, kind, items.map(idOf))
    return items.map((item) => withText(item, kind, member, texts.get(idOf(item)) ?? ''))
  }

  return {
    entries: (after, limit) => links.list(list, after, limit),
    count: (after, limit) => links.count(list, after, limit),
    outline,
    outlines: ({ object }) => object === undefined,
    async items(entries) {
      const objects = await contents.getMany(
        site,
        kind,
        entries.map(({ id }) => id),
      )
      return entries.flatMap((entry) => {
        const object = objects.get(entry.id)
        return object ? [{ ...outline(entry), [kind]: object, category: shownCategory }] : []
      })
    },
    write: (items, fields) =>
      text !== undefined && fields.shows(kind, text)
        ? writeItems(items, fields, (some) => readTexts(some, text))
        : writeItems(items, fields),
  }
}

/**
 * Operations 6 and 9: a page of the objects of one kind that a category is linked with.
 * Errors: categoryUnknown, listTooLong.
 */
export const listAssociations = async (deps: ListDeps, list: LinkList, query: ListQuery): Promise<Json<ItemPage>> => {
  const category = await deps.contents.get(list.site, 'category', list.category)
  if (!category) throw new ServiceError('categoryUnknown')
  return runList(associationSource(deps, list, category), query, deps.longestList)
}
