import { categoriesRoutes, ofEachKind } from '../../lib/contract/routes/categories.ts'
import type { OperationOf } from '../../lib/contract/routes/routes.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { OperationHandler } from '../../lib/http/operation.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { CategoriesDeps } from '../../lib/service/deps.ts'
import { linkCategories, linkObjects, unlinkCategories, unlinkObjects } from './links.ts'
import { getCategory, listAll, listCategoriesOfObject, listObjects, listSiteUrls } from './lists.ts'

export const createCategoriesHandler = (deps: CategoriesDeps): Handler => {
  const operations: Record<OperationOf<'categories'>, OperationHandler> = {
    ...ofEachKind((kind) => ({
      list: listObjects(deps, kind),
      link: linkObjects(deps, kind),
      unlink: unlinkObjects(deps, kind),
      listAll: listAll(deps, kind),
      listCategories: listCategoriesOfObject(deps, kind),
      linkCategories: linkCategories(deps, kind),
      unlinkCategories: unlinkCategories(deps, kind),
    })),
    listCategories: listAll(deps, 'category'),
    getCategory: getCategory(deps),
    listSiteUrls,
  }
  return createHandler('categories', categoriesRoutes, operations, deps.edge)
}
