import type { FieldsDeps } from '../../lib/deps.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { OperationHandler } from '../../lib/http/operation.ts'
import type { PublicOperation } from '../../lib/http/public-operation.ts'
import type { Handler } from '../../lib/http/request.ts'
import { routesOf } from '../group-routes.ts'
import type { OperationOf } from '../routes.ts'
import { createField } from './create-field.ts'
import { deleteField } from './delete-field.ts'
import { getField } from './get-field.ts'
import { getHealth } from './get-health.ts'
import { getWebForm } from './get-web-form.ts'
import { listFieldTypes } from './list-field-types.ts'
import { listFields } from './list-fields.ts'
import { listWebForms } from './list-web-forms.ts'
import { updateField } from './update-field.ts'

/** The handler of this group: its routes from the route table, with the operation behind each. */
export const createFieldsHandler = (deps: FieldsDeps): Handler => {
  const operations: Record<OperationOf<'fields'>, OperationHandler | PublicOperation> = {
    getHealth,
    listFields: listFields(deps),
    getField: getField(deps),
    createField: createField(deps),
    updateField: updateField(deps),
    deleteField: deleteField(deps),
    listWebForms: listWebForms(deps),
    getWebForm: getWebForm(deps),
    listFieldTypes,
  }
  return createHandler('fields', routesOf('fields'), operations, deps.edge)
}
