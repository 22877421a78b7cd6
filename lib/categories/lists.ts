import { type ContentKind, textMember } from '../core/content-kinds.ts'
import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { objectKinds, type Scalars } from '../core/object-kinds.ts'
import type { Json } from '../core/pages.ts'
import type { CategoryLink, CategoryLinks, LinkList } from './category-links.ts'
import type { Content, Contents, Count, Entry, SiteObject } from './contents.ts'
import { associationShape, contentShape, type Item, siteUrlShape } from './query/item-shape.ts'
import type { ListDescription, ListQuery } from './query/list-query.ts'
import { type ItemPage, type ListSource, runList } from './run-list.ts'

interface ListDeps {
  readonly contents: Contents
  readonly links: CategoryLinks
  readonly longestList: number
}

/** Parse the query with the list before you read a page. Errors: listTooLong, categoryUnknown, objectUnknown. */
export interface List extends ListDescription {
  read(deps: ListDeps, query: ListQuery): Promise<Json<ItemPage>>
}

const associationSource = (deps: ListDeps, list: LinkList, category: Promise<Content | undefined>): ListSource => {
  const { contents, links, longestList: longest } = deps
  const { site, kind } = list
  const text = textMember(kind)

  const contentOf = ({ id, displayable }: CategoryLink) => ({
    objectId: id,
    categoryId: list.category,
    objectType: objectKinds[kind].type,
    displayable: displayable ? 1 : 0,
    siteId: site,
  })

  return {
    longest,
    async entries(after, limit) {
      return (await links.list(list, after, limit)).map((link) => ({ id: link.id, content: contentOf(link) }))
    },
    count: (after, limit) => links.count(list, after, limit),
    listHas: ({ object }) => object === undefined,
    async items(entries) {
      const ids = entries.map(({ id }) => id)
      const [objects, found] = await Promise.all([contents.getMany(site, kind, ids), category])
      if (!found) return []
      const shownCategory: Scalars = found
      return entries.flatMap(({ id, content }) => {
        const object = objects.get(id)
        return object ? [{ ...content, [kind]: object, category: shownCategory }] : []
      })
    },
    async addTexts(items, fields) {
      if (text === undefined || !fields.shows(kind, text)) return items
      const ids = items.map(({ objectId }) => Number(objectId))
      const texts = await contents.texts(site, kind, ids)
      return items.map((item) => {
        const [object, body] = [item[kind], texts.get(Number(item['objectId'])) ?? '']
        return typeof object === 'object' ? { ...item, [kind]: { ...object, [text]: body } } : item
      })
    },
  }
}

export const associationList = (list: LinkList): List => ({
  shape: associationShape(list.kind),
  identity: [list.site, list.kind, list.category],
  async read(deps, query) {
    const finding = deps.contents.get(list.site, 'category', list.category)
    const reading = runList(associationSource(deps, list, finding), query)
    const [category, page] = await Promise.all([finding, reading])
    if (!category) throw new ServiceError('categoryUnknown')
    return page
  },
})

export const categoriesOfObjectList = (object: SiteObject): List => ({
  shape: contentShape('category'),
  identity: [object.site, object.kind, object.id, 'category'],
  async read({ contents, links, longestList: longest }, query) {
    const { site, kind, id: ofObject } = object
    const source: ListSource = {
      longest,
      async entries(after, limit) {
        return (await links.categoriesOf(object, after, limit)).map((id) => ({ id, content: { id } }))
      },
      count: (after, limit) => links.countCategoriesOf(object, after, limit),
      listHas: ({ name }) => name === 'id',
      async items(entries) {
        const ids = entries.map(({ id }) => id)
        const categories = await contents.getMany(site, 'category', ids)
        return ids.flatMap((id) => categories.get(id) ?? [])
      },
    }
    const [found, page] = await Promise.all([contents.get(site, kind, ofObject), runList(source, query)])
    if (!found) throw new ServiceError('objectUnknown')
    return page
  },
})

export const contentList = (site: SiteId, kind: ContentKind): List => ({
  shape: contentShape(kind),
  identity: [site, kind],
  read({ contents, longestList: longest }, query) {
    const text = textMember(kind)
    const source: ListSource = {
      longest,
      entries: (after, limit) => contents.list(site, kind, after, limit),
      count: (after, limit) => contents.count(site, kind, after, limit),
      listHas: () => true,
      items: async (entries) => entries.flatMap(({ content }) => (content ? [content] : [])),
      async addTexts(items, fields) {
        if (text === undefined || !fields.showsOwn(text)) return items
        const ids = items.map(({ id }) => Number(id))
        const texts = await contents.texts(site, kind, ids)
        return items.map((item) => ({ ...item, [text]: texts.get(Number(item['id'])) ?? '' }))
      },
    }
    return runList(source, query)
  },
})

export const siteUrlList = (site: SiteId, url: string): List => {
  const item: Item = { siteId: site, url }
  const behind = (after: number): readonly Entry<Item>[] => (site > after ? [{ id: site, content: item }] : [])
  const source: ListSource = {
    longest: Number.POSITIVE_INFINITY,
    entries: async (after) => behind(after),
    async count(after, limit): Promise<Count> {
      const count = behind(after).length
      return { count, last: site, ended: count < limit }
    },
    listHas: () => true,
    items: async (entries) => entries.map(() => item),
  }
  return { shape: siteUrlShape, identity: [site, url], read: (_, query) => runList(source, query) }
}
