import { categoryList } from '../../lib/categories/category-lists.ts'
import { parseListQuery } from '../../lib/categories/query/list-query.ts'
import type { CategoriesDeps } from '../../lib/deps.ts'
import { ServiceError } from '../../lib/errors.ts'
import { operation } from '../../lib/http/operation.ts'
import { okWithTag } from '../../lib/http/reply.ts'
import type { Answer } from '../contract.ts'
import type { category as categoryAnswer } from './contract.ts'
import { categoryOf } from './params.ts'

/** One category of a site (decisions.md, section 8); of the query switches, `fields` does something. 404/220001 when there is no such category. */
export const getCategory = ({ contents }: CategoriesDeps) =>
  operation(
    { params: categoryOf, query: (query, { site }) => parseListQuery(query, categoryList(site.id)) },
    async ({ site, params, query }) => {
      const category = await contents.get(site.id, 'category', params.category)
      if (!category) throw new ServiceError('categoryUnknown')
      return okWithTag<Answer<typeof categoryAnswer>>(query.fields.select(category))
    },
  )
