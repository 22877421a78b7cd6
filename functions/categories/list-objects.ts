import { associationList, listAssociations } from '../../lib/categories/association-list.ts'
import type { ObjectKind } from '../../lib/categories/content-kinds.ts'
import { parseListQuery } from '../../lib/categories/query/list-query.ts'
import type { CategoriesDeps } from '../../lib/deps.ts'
import { operation } from '../../lib/http/operation.ts'
import { okWithJson } from '../../lib/http/reply.ts'
import type { Answer } from '../contract.ts'
import type { AssociationPage } from './contract.ts'
import { categoryOf } from './params.ts'

/** Operations 6 and 9: a page of a category's news items, or blogs. 404/220001 when there is no such category; 400/220000 and 220003 by the query. */
export const listObjects = (deps: CategoriesDeps, kind: ObjectKind) =>
  operation(
    {
      params: categoryOf,
      query: (query, { params, site }) => parseListQuery(query, associationList(site.id, params.category, kind)),
    },
    async ({ site, params, query }) =>
      okWithJson<Answer<AssociationPage>>(
        await listAssociations(deps, { site: site.id, kind, category: params.category }, query),
      ),
  )
