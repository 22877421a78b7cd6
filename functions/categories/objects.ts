import { associationList, listAssociations } from '../../lib/categories/association-list.ts'
import { contentList, listContents } from '../../lib/categories/content-list.ts'
import { linkObjects as link, unlinkObjects as unlink } from '../../lib/categories/link-objects.ts'
import { parseListQuery } from '../../lib/categories/query/list-query.ts'
import type { AssociationPage, ObjectPage } from '../../lib/contract/categories/contract.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import type { ObjectKind } from '../../lib/core/content-kinds.ts'
import { noParams, operation } from '../../lib/http/operation.ts'
import { okWithJson } from '../../lib/http/reply.ts'
import type { CategoriesDeps } from '../../lib/service/deps.ts'
import { categoryOf, readForm } from './params.ts'

/** Operations 6 and 9: a page of a category's news items, or blogs. 404/220001 when there is no such category; 400/220000 and 220003 by the query. */
export const listObjects = (deps: CategoriesDeps, kind: ObjectKind) =>
  operation(
    {
      params: categoryOf,
      query: (query, { params, site }) => parseListQuery(query, associationList(site.id, params.category, kind)),
    },
    ({ site, params, query }) =>
      deps.keep(query.page, async () =>
        okWithJson<Answer<AssociationPage>>(
          await listAssociations(deps, { site: site.id, kind, category: params.category }, query),
        ),
      ),
  )

/** A page of all the news items, or blogs, of a site (decisions.md, section 8). 400/220000 and 220003 by the query. */
export const listAllObjects = (deps: CategoriesDeps, kind: ObjectKind) =>
  operation(
    { params: noParams, query: (query, { site }) => parseListQuery(query, contentList(site.id, kind)) },
    ({ site, query }) =>
      deps.keep(query.page, async () => okWithJson<Answer<ObjectPage>>(await listContents(deps, site.id, kind, query))),
  )

/** Operations 7 and 10: links news items, or blogs, with a category. 201 with the path in `Location`; 404/220001 and 220002 for what does not exist. */
export const linkObjects = (deps: CategoriesDeps, kind: ObjectKind) =>
  operation(
    {
      params: categoryOf,
      body: {
        schema: async () => (await import('../../lib/contract/categories/items-body.ts')).linkBody,
        malformed: 'categoriesMalformed',
      },
    },
    async ({ site, params, body, path, author, remainingTime }) => {
      await link(deps, { site: site.id, kind, category: params.category }, body.items, author, remainingTime)
      return { status: 201, headers: { Location: path } }
    },
  )

/** Operations 8 and 11: removes the category from news items, or blogs. 204 with the path in `Location`; 404/220001 when there is no such category. */
export const unlinkObjects = (deps: CategoriesDeps, kind: ObjectKind) =>
  operation(
    {
      params: categoryOf,
      body: {
        schema: async () => (await import('../../lib/contract/categories/items-body.ts')).unlinkBody,
        malformed: 'categoriesMalformed',
        form: readForm,
        inQuery: true,
      },
    },
    async ({ site, params, body, path, author, remainingTime }) => {
      const ids = body.items.map(({ objectId }) => objectId)
      await unlink(deps, { site: site.id, kind, category: params.category }, ids, author, remainingTime)
      return { status: 204, headers: { Location: path } }
    },
  )
