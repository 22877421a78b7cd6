import type { ObjectKind } from '../../lib/categories/content-kinds.ts'
import { unlinkObjects as unlink } from '../../lib/categories/link-objects.ts'
import type { CategoriesDeps } from '../../lib/deps.ts'
import { operation } from '../../lib/http/operation.ts'
import { categoryOf } from './params.ts'

/** Loaded when the first caller sends a form: most never do. */
const readForm = async (text: string): Promise<unknown> => (await import('../../lib/http/form.ts')).readForm(text)

/** Operations 8 and 11: removes the category from news items, or blogs. 204 with the path in `Location`; 404/220001 when there is no such category. */
export const unlinkObjects = (deps: CategoriesDeps, kind: ObjectKind) =>
  operation(
    {
      params: categoryOf,
      body: {
        schema: async () => (await import('./items-body.ts')).unlinkBody,
        malformed: 'categoriesMalformed',
        form: readForm,
        inQuery: true,
      },
    },
    async ({ site, params, body, path, author }) => {
      const ids = body.items.map(({ objectId }) => objectId)
      await unlink(deps, { site: site.id, kind, category: params.category }, ids, author)
      return { status: 204, headers: { Location: path } }
    },
  )
