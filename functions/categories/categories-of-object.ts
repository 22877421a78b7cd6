import {
  categoriesOfObjectList,
  listCategoriesOfObject as listOfObject,
} from '../../lib/categories/categories-of-object.ts'
import { linkCategories as link, unlinkCategories as unlink } from '../../lib/categories/link-categories.ts'
import { parseListQuery } from '../../lib/categories/query/list-query.ts'
import type { categoryPage } from '../../lib/contract/categories/contract.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import type { ObjectKind } from '../../lib/core/content-kinds.ts'
import { operation } from '../../lib/http/operation.ts'
import { okWithJson } from '../../lib/http/reply.ts'
import type { CategoriesDeps } from '../../lib/service/deps.ts'
import { objectOf, readForm } from './params.ts'

/** A page of the categories that a news item, or a blog, is linked with. 404/220002 when there is no such object; 400/220000 and 220003 by the query. */
export const listCategoriesOfObject = (deps: CategoriesDeps, kind: ObjectKind) =>
  operation(
    {
      params: objectOf,
      query: (query, { params, site }) => parseListQuery(query, categoriesOfObjectList(site.id, kind, params.object)),
    },
    ({ site, params, query }) =>
      deps.keep(query.page, async () =>
        okWithJson<Answer<typeof categoryPage>>(
          await listOfObject(deps, { site: site.id, kind, id: params.object }, query),
        ),
      ),
  )

/** Links a news item, or a blog, with categories: operations 7 and 10 from the other side. 201 with the path in `Location`; 404/220002 and 220001 for what does not exist. */
export const linkCategories = (deps: CategoriesDeps, kind: ObjectKind) =>
  operation(
    {
      params: objectOf,
      body: {
        schema: async () => (await import('../../lib/contract/categories/items-body.ts')).linkCategoriesBody,
        malformed: 'categoriesMalformed',
      },
    },
    async ({ site, params, body, path, author, remainingTime }) => {
      await link(deps, { site: site.id, kind, id: params.object }, body.items, author, remainingTime)
      return { status: 201, headers: { Location: path } }
    },
  )

/** Unlinks a news item, or a blog, from categories: operations 8 and 11 from the other side. 204 with the path in `Location`; 404/220002 and 220001 for what does not exist. */
export const unlinkCategories = (deps: CategoriesDeps, kind: ObjectKind) =>
  operation(
    {
      params: objectOf,
      body: {
        schema: async () => (await import('../../lib/contract/categories/items-body.ts')).unlinkCategoriesBody,
        malformed: 'categoriesMalformed',
        form: readForm,
        inQuery: true,
      },
    },
    async ({ site, params, body, path, author, remainingTime }) => {
      const categories = body.items.map(({ categoryId }) => categoryId)
      await unlink(deps, { site: site.id, kind, id: params.object }, categories, author, remainingTime)
      return { status: 204, headers: { Location: path } }
    },
  )
