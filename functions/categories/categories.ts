import { contentList, listContents } from '../../lib/categories/content-list.ts'
import { parseListQuery } from '../../lib/categories/query/list-query.ts'
import type { category as categoryAnswer, categoryPage } from '../../lib/contract/categories/contract.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { noParams, operation } from '../../lib/http/operation.ts'
import { okWithJson, okWithTag } from '../../lib/http/reply.ts'
import type { CategoriesDeps } from '../../lib/service/deps.ts'
import { categoryOf } from './params.ts'

/** One category of a site (decisions.md, section 8); of the query switches, `fields` does something. 404/220001 when there is no such category. */
export const getCategory = ({ contents }: CategoriesDeps) =>
  operation(
    { params: categoryOf, query: (query, { site }) => parseListQuery(query, contentList(site.id, 'category')) },
    async ({ site, params, query }) => {
      const category = await contents.get(site.id, 'category', params.category)
      if (!category) throw new ServiceError('categoryUnknown')
      return okWithTag<Answer<typeof categoryAnswer>>(query.fields.select(category))
    },
  )

/** A page of the categories of a site (decisions.md, section 8). 400/220000 and 220003 by the query. */
export const listCategories = (deps: CategoriesDeps) =>
  operation(
    { params: noParams, query: (query, { site }) => parseListQuery(query, contentList(site.id, 'category')) },
    ({ site, query }) =>
      deps.keep(query.page, async () =>
        okWithJson<Answer<typeof categoryPage>>(await listContents(deps, site.id, 'category', query)),
      ),
  )
