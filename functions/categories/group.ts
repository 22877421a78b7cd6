import type { CategoriesDeps } from '../../lib/deps.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { OperationHandler } from '../../lib/http/operation.ts'
import type { Handler } from '../../lib/http/request.ts'
import { routesOf } from '../group-routes.ts'
import { type OperationOf, ofEachKind } from '../routes.ts'
import { getCategory } from './get-category.ts'
import { linkObjects } from './link-objects.ts'
import { listCategories } from './list-categories.ts'
import { listCategoriesOfObject } from './list-categories-of-object.ts'
import { listObjects } from './list-objects.ts'
import { unlinkObjects } from './unlink-objects.ts'

/** The handler of this group: its routes from the route table, with the operation behind each. */
export const createCategoriesHandler = (deps: CategoriesDeps): Handler => {
  const operations: Record<OperationOf<'categories'>, OperationHandler> = {
    ...ofEachKind('list', (kind) => listObjects(deps, kind)),
    ...ofEachKind('link', (kind) => linkObjects(deps, kind)),
    ...ofEachKind('unlink', (kind) => unlinkObjects(deps, kind)),
    listCategories: listCategories(deps),
    getCategory: getCategory(deps),
    ...ofEachKind('listCategories', (kind) => listCategoriesOfObject(deps, kind)),
  }
  return createHandler('categories', routesOf('categories'), operations, deps.edge)
}
