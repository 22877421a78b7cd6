import { type LinkList, type LinkRequest, link, unlink } from '../../lib/categories/category-links.ts'
import type { SiteObject } from '../../lib/categories/contents.ts'
import * as lists from '../../lib/categories/lists.ts'
import { parseListQuery } from '../../lib/categories/query/list-query.ts'
import type { ItemPage } from '../../lib/categories/run-list.ts'
import type * as contract from '../../lib/contract/categories/contract.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { categoriesRoutes, ofEachKind } from '../../lib/contract/routes/categories.ts'
import type { ContentKind, ObjectKind } from '../../lib/core/content-kinds.ts'
import { type ErrorName, ServiceError } from '../../lib/core/errors.ts'
import { type CategoryId, largestContentId, parseId, type SiteId } from '../../lib/core/ids.ts'
import type { Json } from '../../lib/core/pages.ts'
import { createHandler } from '../../lib/http/handler.ts'
import { type BodyShape, bodiesOf, type OperationInput, operationsOn, type Segments } from '../../lib/http/operation.ts'
import { byValue, ok, okWithJson, type TextReply } from '../../lib/http/reply.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { CategoriesDeps } from '../../lib/service/deps.ts'

/** Errors: `unknown`, even for a malformed id. */
const idIn = <Id extends number>(segment: string | undefined, unknown: ErrorName): Id => {
  const id = parseId<Id>(segment ?? '')
  if (id !== undefined && id >= 1 && id <= largestContentId) return id
  throw new ServiceError(unknown)
}

const categoryOf = ({ category }: Segments) => ({ category: idIn<CategoryId>(category, 'categoryUnknown') })
const objectOf = ({ object }: Segments) => ({ id: idIn(object, 'objectUnknown') })

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

/** 400/220000 for a wrong query, and 400/220003 if the list is too long for this query. */
const listOperation = <Params = undefined>(
  answer: (page: Json<ItemPage>) => TextReply,
  listOf: (site: SiteId, params: Params, url: string) => lists.List,
  params?: (segments: Segments) => Params,
) =>
  operation(
    {
      ...(params && { params }),
      query(query, { params, site, dataCentre }) {
        const list = listOf(site.id, params, dataCentre.url)
        return { list, ...parseListQuery(query, list) }
      },
    },
    ({ query }, deps) => deps.cacheReply(query.page, async () => answer(await query.list.read(deps, query))),
  )

const listAll = (kind: ContentKind) =>
  listOperation(okWithJson<Answer<contract.ObjectPage | typeof contract.categoryPage>>, (site) =>
    lists.contentList(site, kind),
  )

/** C-49. 404/220001 for an unknown category. Ignores all parameters of the query but `fields`. */
const getCategory = operation(
  {
    params: categoryOf,
    query(query, { site }) {
      const fields = new Map([['fields', query.get('fields') ?? '']])
      return parseListQuery(fields, lists.contentList(site.id, 'category'))
    },
  },
  async ({ site, params, query }, { contents }) => {
    const category = await contents.get(site.id, 'category', params.category)
    if (!category) throw new ServiceError('categoryUnknown')
    return ok<Answer<typeof contract.category>>(query.fields.select(category), { tag: byValue })
  },
)

/** C-51: a site has one address, the base URL of its data centre. */
const listSiteUrls = listOperation(okWithJson<Answer<typeof contract.siteUrlPage>>, (site, _, url) =>
  lists.siteUrlList(site, url),
)

/** C-42: the path at which the caller reaches the service, also behind a proxy that removes a prefix. */
const locationOf = ({ dataCentre, path }: Pick<OperationInput, 'dataCentre' | 'path'>) => ({
  Location: new URL(dataCentre.url).pathname.replace(/\/$/, '') + path,
})

/**
 * C-37 to C-40 and C-43 to C-45 (operations 7, 8, 10 and 11), and C-46 to C-48 from the side of an object. 404/220001
 * for an unknown category, 404/220002 for an unknown object.
 */
const changeAt =
  (status: 201 | 204, change: typeof link) =>
  <Body>(
    kind: ObjectKind,
    params: (segments: Segments) => Pick<LinkList, 'category'> | Pick<SiteObject, 'id'>,
    body: BodyShape<Body>,
    itemsOf: (body: Body) => readonly LinkRequest[],
  ) =>
    operation({ params, body }, async (input, deps) => {
      const { site, author, deadline } = input
      await change(deps, { site: site.id, kind, ...input.params }, itemsOf(input.body), author, deadline)
      return { status, headers: locationOf(input) }
    })

type ItemsOf<Item> = { readonly items: readonly (Item & Pick<LinkRequest, 'displayable'>)[] }

const objectsIn = ({ items }: ItemsOf<{ readonly objectId: number }>) =>
  items.map(({ objectId: id, displayable }) => ({ id, displayable }))
const categoriesIn = ({ items }: ItemsOf<{ readonly categoryId: number }>) =>
  items.map(({ categoryId: id, displayable }) => ({ id, displayable }))

const linkAt = changeAt(201, link)
const unlinkAt = changeAt(204, unlink)

const operations = {
  ...ofEachKind((kind) => ({
    // C-1 (operations 6 and 9). 404/220001 for an unknown category.
    list: listOperation(
      okWithJson<Answer<contract.AssociationPage>>,
      (site, { category }) => lists.associationList({ site, kind, category }),
      categoryOf,
    ),
    link: linkAt(kind, categoryOf, bodyOf('linkBody'), objectsIn),
    unlink: unlinkAt(kind, categoryOf, removalOf('unlinkBody'), objectsIn),
    listAll: listAll(kind),
    listCategories: listOperation(
      okWithJson<Answer<typeof contract.categoryPage>>,
      (site, { id }) => lists.categoriesOfObjectList({ site, kind, id }),
      objectOf,
    ),
    linkCategories: linkAt(kind, objectOf, bodyOf('linkCategoriesBody'), categoriesIn),
    unlinkCategories: unlinkAt(kind, objectOf, removalOf('unlinkCategoriesBody'), categoriesIn),
  })),
  listCategories: listAll('category'),
  getCategory,
  listSiteUrls,
}

export const createCategoriesHandler = (deps: CategoriesDeps): Handler =>
  createHandler('categories', categoriesRoutes, operations, deps)
