import { createAccessHandler } from '../../functions/access/group.ts'
import { createCategoriesHandler } from '../../functions/categories/group.ts'
import { createDocumentationHandler } from '../../functions/documentation/group.ts'
import { createFieldsHandler } from '../../functions/fields/group.ts'
import { createStorageHandler } from '../../functions/storage/group.ts'
import { createWebhooksHandler } from '../../functions/webhooks/group.ts'
import type { Handler } from '../../lib/http/request.ts'
import * as deps from '../../lib/service/deps.ts'

const over =
  <Given extends readonly unknown[], Deps>(
    createHandler: (deps: Deps) => Handler,
    createDeps: (...given: Given) => Deps,
  ) =>
  (...given: Given): Handler =>
    createHandler(createDeps(...given))

export const openHandler = {
  access: over(createAccessHandler, deps.createAccessDeps),
  categories: over(createCategoriesHandler, deps.createCategoriesDeps),
  documentation: over(createDocumentationHandler, deps.createDocumentationDeps),
  fields: over(createFieldsHandler, deps.createFieldsDeps),
  storage: over(createStorageHandler, deps.createStorageDeps),
  webhooks: over(createWebhooksHandler, deps.createWebhooksDeps),
}
