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
    ...ofEachKind('list', (kind) => listObjects(deps, kind)),
    ...ofEachKind('link', (kind) => linkObjects(deps, kind)),
    ...ofEachKind('unlink', (kind) => unlinkObjects(deps, kind)),
    listCategories: listAll(deps, 'category'),
    getCategory: getCategory(deps),
    ...ofEachKind('listAll', (kind) => listAll(deps, kind)),
    ...ofEachKind('listCategories', (kind) => listCategoriesOfObject(deps, kind)),
    ...ofEachKind('linkCategories', (kind) => linkCategories(deps, kind)),
    ...ofEachKind('unlinkCategories', (kind) => unlinkCategories(deps, kind)),
    listSiteUrls,
  }
  return createHandler('categories', categoriesRoutes, operations, deps.edge)
}
