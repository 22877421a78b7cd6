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
import type { Json } from '../../lib/core/answer-size.ts'
import type { ContentKind, ObjectKind } from '../../lib/core/content-kinds.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { operation } from '../../lib/http/operation.ts'
import { byValue, ok, okWithJson } from '../../lib/http/reply.ts'
import type { CategoriesDeps } from '../../lib/service/deps.ts'
import { categoryOf, objectOf } from './params.ts'

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
export const listObjects = (kind: ObjectKind) =>
  operation(
    {
      params: categoryOf,
      query: (query, { params, site }) => parseListQuery(query, associationList(site.id, params.category, kind)),
    },
    ({ site, params, query }, deps: CategoriesDeps) =>
      keepPage<Answer<AssociationPage>>(deps, query, () =>
        listAssociations(deps, { site: site.id, kind, category: params.category }, query),
      ),
  )

export const listAll = (kind: ContentKind) =>
  operation({ query: contentQuery(kind) }, ({ site, query }, deps: CategoriesDeps) =>
    keepPage<Answer<ObjectPage | typeof categoryPage>>(deps, query, () => listContents(deps, site.id, kind, query)),
  )

export const listCategoriesOfObject = (kind: ObjectKind) =>
  operation(
    {
      params: objectOf,
      query: (query, { params, site }) => parseListQuery(query, categoriesOfObjectList(site.id, kind, params.object)),
    },
    ({ site, params, query }, deps: CategoriesDeps) =>
      keepPage<Answer<typeof categoryPage>>(deps, query, () =>
        listOfObject(deps, { site: site.id, kind, id: params.object }, query),
      ),
  )

/** C-49. 404/220001 for an unknown category. Ignores all parameters of the query but `fields`. */
export const getCategory = operation(
  { params: categoryOf, query: contentQuery('category') },
  async ({ site, params, query }, { contents }: CategoriesDeps) => {
    const category = await contents.get(site.id, 'category', params.category)
    if (!category) throw new ServiceError('categoryUnknown')
    return ok<Answer<typeof categoryAnswer>>(query.fields.select(category), { tag: byValue })
  },
)

/** C-51: a site has one address, the base URL of its data centre. */
export const listSiteUrls = operation(
  { query: (query, { site }) => parseListQuery(query, siteUrlList(site.id)) },
  async ({ site, dataCentre, query }) =>
    okWithJson<Answer<typeof siteUrlPage>>(await listUrls(site.id, dataCentre.url, query)),
)
