import { categoryList, listCategories as list } from '../../lib/categories/category-lists.ts'
import { parseListQuery } from '../../lib/categories/query/list-query.ts'
import type { CategoriesDeps } from '../../lib/deps.ts'
import { noParams, operation } from '../../lib/http/operation.ts'
import { okWithJson } from '../../lib/http/reply.ts'
import type { Answer } from '../contract.ts'
import type { categoryPage } from './contract.ts'

/** A page of the categories of a site (decisions.md, section 8). 400/220000 and 220003 by the query. */
export const listCategories = (deps: CategoriesDeps) =>
  operation(
    { params: noParams, query: (query, { site }) => parseListQuery(query, categoryList(site.id)) },
    async ({ site, query }) => okWithJson<Answer<typeof categoryPage>>(await list(deps, site.id, query)),
  )
