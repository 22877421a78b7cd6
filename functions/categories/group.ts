import { link, unlink } from '../../lib/categories/category-links.ts'
import {
  associationList,
  categoriesOfObjectList,
  contentList,
  listAssociations,
  listContents,
  listCategoriesOfObject as listOfObject,
  listSiteUrls as listUrls,
  siteUrlList,
} from '../../lib/categories/lists.ts'
import { type ListQuery, parseListQuery } from '../../lib/categories/query/list-query.ts'
import type {
  AssociationPage,
  category as categoryAnswer,
  categoryPage,
  ObjectPage,
  siteUrlPage,
} from '../../lib/contract/categories/contract.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { categoriesRoutes, ofEachKind } from '../../lib/contract/routes/categories.ts'
import type { ContentKind, ObjectKind } from '../../lib/core/content-kinds.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { type CategoryId, largestContentId, parseId, type SiteId } from '../../lib/core/ids.ts'
import type { Json } from '../../lib/core/pages.ts'
import { createHandler } from '../../lib/http/handler.ts'
import { bodiesOf, type OperationInput, operationsOn, type Segments } from '../../lib/http/operation.ts'
import { byValue, ok, okWithJson } from '../../lib/http/reply.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { CategoriesDeps } from '../../lib/service/deps.ts'

const idIn = <Id extends number>(segment: string | undefined): Id | undefined => {
  const id = parseId<Id>(segment ?? '')
  return id !== undefined && id >= 1 && id <= largestContentId ? id : undefined
}

/** Errors: categoryUnknown, even for a malformed id. */
const categoryOf = (segments: Segments): { category: CategoryId } => {
  const category = idIn<CategoryId>(segments['category'])
  if (category === undefined) throw new ServiceError('categoryUnknown')
  return { category }
}

/** Errors: objectUnknown, even for a malformed id. */
const objectOf = (segments: Segments): { object: number } => {
  const object = idIn(segments['object'])
  if (object === undefined) throw new ServiceError('objectUnknown')
  return { object }
}

const operation = operationsOn<CategoriesDeps>()

const bodies = {
  schemas: () => import('../../lib/contract/categories/items-body.ts'),
  malformed: 'categoriesMalformed' as const,
}

const bodyOf = bodiesOf(bodies)

const removalOf = bodiesOf({
  ...bodies,
  form: async (text: string) => (await import('../../lib/http/form.ts')).readForm(text),
  inQuery: true,
})

// Every list answers 400/220000 for a wrong query, and 400/220003 if it is too long for this query.

const keepPage = <Page extends object>(
  { cacheReply }: CategoriesDeps,
  query: ListQuery,
  read: () => Promise<Json<Page>>,
) => cacheReply(query.page, async () => okWithJson<Page>(await read()))

const contentQuery =
  (kind: ContentKind) =>
  (query: ReadonlyMap<string, string>, { site }: { readonly site: { readonly id: SiteId } }) =>
    parseListQuery(query, contentList(site.id, kind))

/** C-1 (operations 6 and 9). 404/220001 for an unknown category. */
const listObjects = (kind: ObjectKind) =>
  operation(
    {
      params: categoryOf,
      query: (query, { params, site }) => parseListQuery(query, associationList(site.id, params.category, kind)),
    },
    ({ site, params, query }, deps) =>
      keepPage<Answer<AssociationPage>>(deps, query, () =>
        listAssociations(deps, { site: site.id, kind, category: params.category }, query),
      ),
  )

const listAll = (kind: ContentKind) =>
  operation({ query: contentQuery(kind) }, ({ site, query }, deps) =>
    keepPage<Answer<ObjectPage | typeof categoryPage>>(deps, query, () => listContents(deps, site.id, kind, query)),
  )

const listCategoriesOfObject = (kind: ObjectKind) =>
  operation(
    {
      params: objectOf,
      query: (query, { params, site }) => parseListQuery(query, categoriesOfObjectList(site.id, kind, params.object)),
    },
    ({ site, params, query }, deps) =>
      keepPage<Answer<typeof categoryPage>>(deps, query, () =>
        listOfObject(deps, { site: site.id, kind, id: params.object }, query),
      ),
  )

/** C-49. 404/220001 for an unknown category. Ignores all parameters of the query but `fields`. */
const getCategory = operation(
  { params: categoryOf, query: contentQuery('category') },
  async ({ site, params, query }, { contents }) => {
    const category = await contents.get(site.id, 'category', params.category)
    if (!category) throw new ServiceError('categoryUnknown')
    return ok<Answer<typeof categoryAnswer>>(query.fields.select(category), { tag: byValue })
  },
)

/** C-51: a site has one address, the base URL of its data centre. */
const listSiteUrls = operation(
  { query: (query, { site }) => parseListQuery(query, siteUrlList(site.id)) },
  async ({ site, dataCentre, query }) =>
    okWithJson<Answer<typeof siteUrlPage>>(await listUrls(site.id, dataCentre.url, query)),
)

/** C-42: the path at which the caller reaches the service, also behind a proxy that removes a prefix. */
const locationOf = ({ dataCentre, path }: Pick<OperationInput, 'dataCentre' | 'path'>) => ({
  Location: new URL(dataCentre.url).pathname.replace(/\/$/, '') + path,
})

/** C-37 to C-40 (operations 7 and 10). 404/220001 for an unknown category, 404/220002 for an unknown object. */
const linkObjects = (kind: ObjectKind) =>
  operation({ params: categoryOf, body: bodyOf('linkBody') }, async (input, deps) => {
    const { site, params, body, author, deadline } = input
    const items = body.items.map(({ objectId: id, displayable }) => ({ id, displayable }))
    await link(deps, { site: site.id, kind, category: params.category }, items, author, deadline)
    return { status: 201, headers: locationOf(input) }
  })

/** C-43 to C-45 (operations 8 and 11). 404/220001 for an unknown category. */
const unlinkObjects = (kind: ObjectKind) =>
  operation({ params: categoryOf, body: removalOf('unlinkBody') }, async (input, deps) => {
    const { site, params, body, author, deadline } = input
    const ids = body.items.map(({ objectId }) => objectId)
    await unlink(deps, { site: site.id, kind, category: params.category }, ids, author, deadline)
    return { status: 204, headers: locationOf(input) }
  })

/**
 * C-46 to C-48. `unlinkCategories` has the same errors: 404/220002 for an unknown object, 404/220001 for an unknown
 * category.
 */
const linkCategories = (kind: ObjectKind) =>
  operation({ params: objectOf, body: bodyOf('linkCategoriesBody') }, async (input, deps) => {
    const { site, params, body, author, deadline } = input
    const items = body.items.map(({ categoryId: id, displayable }) => ({ id, displayable }))
    await link(deps, { site: site.id, kind, id: params.object }, items, author, deadline)
    return { status: 201, headers: locationOf(input) }
  })

const unlinkCategories = (kind: ObjectKind) =>
  operation({ params: objectOf, body: removalOf('unlinkCategoriesBody') }, async (input, deps) => {
    const { site, params, body, author, deadline } = input
    const categories = body.items.map(({ categoryId }) => categoryId)
    await unlink(deps, { site: site.id, kind, id: params.object }, categories, author, deadline)
    return { status: 204, headers: locationOf(input) }
  })

const operations = {
  ...ofEachKind((kind) => ({
    list: listObjects(kind),
    link: linkObjects(kind),
    unlink: unlinkObjects(kind),
    listAll: listAll(kind),
    listCategories: listCategoriesOfObject(kind),
    linkCategories: linkCategories(kind),
    unlinkCategories: unlinkCategories(kind),
  })),
  listCategories: listAll('category'),
  getCategory,
  listSiteUrls,
}

export const createCategoriesHandler = (deps: CategoriesDeps): Handler =>
  createHandler('categories', categoriesRoutes, operations, deps)
