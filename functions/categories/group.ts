import { categoriesRoutes, ofEachKind } from '../../lib/contract/routes/categories.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { CategoriesDeps } from '../../lib/service/deps.ts'
import { linkCategories, linkObjects, unlinkCategories, unlinkObjects } from './links.ts'
import { getCategory, listAll, listCategoriesOfObject, listObjects, listSiteUrls } from './lists.ts'

const operations = {
  ...ofEachKind((kind) => ({
    list: listObjects(kind),
    link: linkObjects(kind),
    unlink: unlinkObjects(kind),
    listAll: listAll(kind),
    listCategories: listCategoriesOfObject(kind),
    linkCategories: linkCategories(kind),
    unlinkCategories: unlinkCategories(kind),
  })),
  listCategories: listAll('category'),
  getCategory,
  listSiteUrls,
}

export const createCategoriesHandler = (deps: CategoriesDeps): Handler =>
  createHandler('categories', categoriesRoutes, operations, deps)
