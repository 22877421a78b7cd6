import type { Connection } from './connection.ts'
import {
  getCategory,
  linkBlogs,
  linkCategoriesOfBlog,
  linkCategoriesOfNews,
  linkNews,
  listBlogs,
  listBlogsOfCategory,
  listCategories,
  listCategoriesOfBlog,
  listCategoriesOfNews,
  listNews,
  listNewsOfCategory,
  unlinkBlogs,
  unlinkCategoriesOfBlog,
  unlinkCategoriesOfNews,
  unlinkNews,
} from './generated/operations.gen.ts'
import type { Blog, BlogAssociation, Category, NewsAssociation, NewsItem } from './generated/types.gen.ts'
import { paginate } from './pages.ts'

export interface ListQuery {
  /** A condition that objects must meet, as in docs/api.md: `{ subject: { $contains: 'office' } }`. */
  readonly where?: Readonly<Record<string, unknown>>
  /** The members to sort by. `-` in front of a name means descending order: `-releaseDate,subject`. */
  readonly order?: string
  /** The members to return: `objectId,news(subject)`. */
  readonly fields?: string
}

export interface PlacedQuery extends ListQuery {
  readonly skip: number
  readonly limit: number
}

export interface Placed<Item> {
  readonly items: readonly Partial<Item>[]
  readonly total: number
}

/** The news items or the blogs of a site. A repeated `link` or `unlink` also succeeds. */
export interface Objects<Association, Item> {
  list(query?: ListQuery): AsyncIterable<Partial<Item>>
  of(category: number, query?: ListQuery): AsyncIterable<Partial<Association>>
  /**
   * One page of the site's objects. To read the whole list, use `list`, which misses no object even if objects change
   * meanwhile.
   */
  page(query: PlacedQuery): Promise<Placed<Item>>
  pageOf(category: number, query: PlacedQuery): Promise<Placed<Association>>
  /** Links up to 500 objects with a category: all or none. Without `displayable`, an existing link keeps its value. */
  link(category: number, objects: readonly number[], options?: { readonly displayable?: boolean }): Promise<void>
  unlink(category: number, objects: readonly number[]): Promise<void>
  categoriesOf(object: number, query?: ListQuery): AsyncIterable<Partial<Category>>
  linkCategories(object: number, categories: readonly number[]): Promise<void>
  unlinkCategories(object: number, categories: readonly number[]): Promise<void>
}

export interface Categories {
  list(query?: ListQuery): AsyncIterable<Partial<Category>>
  get(id: number): Promise<Category>
  readonly news: Objects<NewsAssociation, NewsItem>
  readonly blogs: Objects<BlogAssociation, Blog>
}

/**
 * A page by `cursor` or by `skip`. Only `cursor` works for lists of any length, and for lists that change between two
 * pages.
 */
interface PageQuery {
  readonly where?: string
  readonly order?: string
  readonly fields?: string
  readonly limit: number
  readonly cursor?: string
  readonly skip?: number
}
interface AnsweredPage<Item> {
  readonly items: readonly Item[]
  readonly totalItemsCount: number | null
  readonly nextCursor?: string | null
}

const pageSize = 100

const serializeQuery = ({ where, ...query }: ListQuery) => ({
  ...query,
  ...(where && { where: JSON.stringify(where) }),
})

export const createCategories = ({ site, call }: Connection): Categories => {
  const list = <Item>(read: (query: PageQuery) => Promise<{ data: AnsweredPage<Item> }>, query: ListQuery = {}) =>
    paginate(async (cursor = '') => {
      const { data } = await read({ ...serializeQuery(query), limit: pageSize, cursor })
      return { items: data.items, next: data.nextCursor ?? undefined }
    })
  const readPage = async <Item>(
    read: (query: PageQuery) => Promise<{ data: AnsweredPage<Item> }>,
    { skip, limit, ...query }: PlacedQuery,
  ) => {
    const { data } = await read({ ...serializeQuery(query), skip, limit })
    return { items: data.items, total: data.totalItemsCount ?? skip + data.items.length }
  }
  const inCategory = (category: number) => ({ site: site.id, category })
  const ofObject = (object: number) => ({ site: site.id, object })
  const linksTo = (ids: readonly number[], { displayable }: { readonly displayable?: boolean } = {}) => ({
    items: ids.map((objectId) => ({
      objectId,
      ...(displayable !== undefined && { displayable: displayable ? (1 as const) : (0 as const) }),
    })),
  })
  const objectIds = (ids: readonly number[]) => ({ items: ids.map((objectId) => ({ objectId })) })
  const categoryIds = (ids: readonly number[]) => ({ items: ids.map((categoryId) => ({ categoryId })) })
  const path = { site: site.id }
  return {
    list: (switches) => list((query) => listCategories(call, { path, query }), switches),
    get: async (id) => (await getCategory(call, { path: inCategory(id) })).data,
    news: {
      list: (switches) => list((query) => listNews(call, { path, query }), switches),
      of: (id, switches) => list((query) => listNewsOfCategory(call, { path: inCategory(id), query }), switches),
      page: (switches) => readPage((query) => listNews(call, { path, query }), switches),
      pageOf: (id, switches) =>
        readPage((query) => listNewsOfCategory(call, { path: inCategory(id), query }), switches),
      link: async (id, ids, options) =>
        void (await linkNews(call, { path: inCategory(id), body: linksTo(ids, options) })),
      unlink: async (id, ids) => void (await unlinkNews(call, { path: inCategory(id), body: objectIds(ids) })),
      categoriesOf: (id, switches) =>
        list((query) => listCategoriesOfNews(call, { path: ofObject(id), query }), switches),
      linkCategories: async (id, ids) =>
        void (await linkCategoriesOfNews(call, { path: ofObject(id), body: categoryIds(ids) })),
      unlinkCategories: async (id, ids) =>
        void (await unlinkCategoriesOfNews(call, { path: ofObject(id), body: categoryIds(ids) })),
    },
    blogs: {
      list: (switches) => list((query) => listBlogs(call, { path, query }), switches),
      of: (id, switches) => list((query) => listBlogsOfCategory(call, { path: inCategory(id), query }), switches),
      page: (switches) => readPage((query) => listBlogs(call, { path, query }), switches),
      pageOf: (id, switches) =>
        readPage((query) => listBlogsOfCategory(call, { path: inCategory(id), query }), switches),
      link: async (id, ids, options) =>
        void (await linkBlogs(call, { path: inCategory(id), body: linksTo(ids, options) })),
      unlink: async (id, ids) => void (await unlinkBlogs(call, { path: inCategory(id), body: objectIds(ids) })),
      categoriesOf: (id, switches) =>
        list((query) => listCategoriesOfBlog(call, { path: ofObject(id), query }), switches),
      linkCategories: async (id, ids) =>
        void (await linkCategoriesOfBlog(call, { path: ofObject(id), body: categoryIds(ids) })),
      unlinkCategories: async (id, ids) =>
        void (await unlinkCategoriesOfBlog(call, { path: ofObject(id), body: categoryIds(ids) })),
    },
  }
}
