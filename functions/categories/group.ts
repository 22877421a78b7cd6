import { categoriesRoutes, ofEachKind } from '../../lib/contract/routes/categories.ts'
import type { OperationOf } from '../../lib/contract/routes/routes.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { OperationHandler } from '../../lib/http/operation.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { CategoriesDeps } from '../../lib/service/deps.ts'
import { getCategory, listCategories } from './categories.ts'
import { linkCategories, listCategoriesOfObject, unlinkCategories } from './categories-of-object.ts'
import { linkObjects, listAllObjects, listObjects, unlinkObjects } from './objects.ts'
import { listSiteUrls } from './site-urls.ts'

/** The handler of this group: its routes from the route table, with the operation behind each. */
export const createCategoriesHandler = (deps: CategoriesDeps): Handler => {
  const operations: Record<OperationOf<'categories'>, OperationHandler> = {
    ...ofEachKind('list', (kind) => listObjects(deps, kind)),
    ...ofEachKind('link', (kind) => linkObjects(deps, kind)),
    ...ofEachKind('unlink', (kind) => unlinkObjects(deps, kind)),
    listCategories: listCategories(deps),
    getCategory: getCategory(deps),
    ...ofEachKind('listAll', (kind) => listAllObjects(deps, kind)),
    ...ofEachKind('listCategories', (kind) => listCategoriesOfObject(deps, kind)),
    ...ofEachKind('linkCategories', (kind) => linkCategories(deps, kind)),
    ...ofEachKind('unlinkCategories', (kind) => unlinkCategories(deps, kind)),
    listSiteUrls,
  }
  return createHandler('categories', categoriesRoutes, operations, deps.edge)
}
