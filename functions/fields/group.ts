import { fieldsRoutes } from '../../lib/contract/routes/fields.ts'
import type { OperationOf } from '../../lib/contract/routes/routes.ts'
import type { AnyOperation } from '../../lib/http/admission.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { FieldsDeps } from '../../lib/service/deps.ts'
import {
  createField,
  deleteField,
  getField,
  getWebForm,
  listFields,
  listFieldTypes,
  listWebForms,
  updateField,
} from './fields.ts'
import { getHealth, getRoot, listSites } from './service.ts'

export const createFieldsHandler = (deps: FieldsDeps): Handler => {
  const operations: Record<OperationOf<'fields'>, AnyOperation> = {
    getRoot: getRoot(deps),
    getHealth: getHealth(deps),
    listSites: listSites(deps),
    listFields: listFields(deps),
    getField: getField(deps),
    createField: createField(deps),
    updateField: updateField(deps),
    deleteField: deleteField(deps),
    listWebForms: listWebForms(deps),
    getWebForm: getWebForm(deps),
    listFieldTypes,
  }
  return createHandler('fields', fieldsRoutes, operations, deps.edge)
}
