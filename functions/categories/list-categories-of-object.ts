import { categoriesOfObjectList, listCategoriesOfObject as list } from '../../lib/categories/category-lists.ts'
import type { ObjectKind } from '../../lib/categories/content-kinds.ts'
import { parseListQuery } from '../../lib/categories/query/list-query.ts'
import type { CategoriesDeps } from '../../lib/deps.ts'
import { operation } from '../../lib/http/operation.ts'
import { okWithJson } from '../../lib/http/reply.ts'
import type { Answer } from '../contract.ts'
import type { categoryPage } from './contract.ts'
import { objectOf } from './params.ts'

/** A page of the categories that a news item, or a blog, is linked with. 404/220002 when there is no such object; 400/220000 and 220003 by the query. */
export const listCategoriesOfObject = (deps: CategoriesDeps, kind: ObjectKind) =>
  operation(
    {
      params: objectOf,
      query: (query, { params, site }) => parseListQuery(query, categoriesOfObjectList(site.id, kind, params.object)),
    },
    async ({ site, params, query }) =>
      okWithJson<Answer<typeof categoryPage>>(await list(deps, { site: site.id, kind, id: params.object }, query)),
  )
