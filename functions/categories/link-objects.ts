import type { ObjectKind } from '../../lib/categories/content-kinds.ts'
import { linkObjects as link } from '../../lib/categories/link-objects.ts'
import type { CategoriesDeps } from '../../lib/deps.ts'
import { operation } from '../../lib/http/operation.ts'
import { categoryOf } from './params.ts'

/** Operations 7 and 10: links news items, or blogs, with a category. 201 with the path in `Location`; 404/220001 and 220002 for what does not exist. */
export const linkObjects = (deps: CategoriesDeps, kind: ObjectKind) =>
  operation(
    {
      params: categoryOf,
      body: { schema: async () => (await import('./items-body.ts')).linkBody, malformed: 'categoriesMalformed' },
    },
    async ({ site, params, body, path, author }) => {
      await link(deps, { site: site.id, kind, category: params.category }, body.items, author)
      return { status: 201, headers: { Location: path } }
    },
  )
