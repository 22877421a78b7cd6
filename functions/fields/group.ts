import { fieldsRoutes } from '../../lib/contract/routes/fields.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { FieldsDeps } from '../../lib/service/deps.ts'
import * as fields from './fields.ts'
import * as service from './service.ts'

export const createFieldsHandler = (deps: FieldsDeps): Handler =>
  createHandler('fields', fieldsRoutes, { ...fields, ...service }, deps)
