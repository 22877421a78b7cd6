import * as z from 'zod/mini'
import type { OperationDoc } from '../operation-doc.ts'
import { fieldChangeBody } from './field-body.ts'
import { xmlNames } from './xml-names.ts'

export const updateFieldDoc: OperationDoc = {
  summary: 'Change a system field of a web form',
  description:
    'Changes whether the field is mandatory, its order, or both. A field that moves leaves its old position first; on a ' +
    'taken position, the others move as they do for a new field.',
  body: {
    schema: fieldChangeBody.register(z.globalRegistry, { id: 'FieldChange' }),
    also: {
      anyOf: [
        { required: ['mandatory'], properties: { mandatory: {} } },
        { required: ['order'], properties: { order: {} } },
      ],
    },
    xml: xmlNames.field,
  },
  answers: { 200: { description: 'The field is changed.', links: { getField: {} } } },
  errors: ['fieldsMalformed', 'webFormUnknown', 'fieldUnknown', 'conditionFailed'],
  examples: [{ path: { field: -7 }, body: { mandatory: false, order: 4 } }],
  provoked: {
    fieldsMalformed: { body: { mandatory: 'perhaps', order: 0 } },
    conditionFailed: { headers: { 'If-Match': '"an-earlier-state"' }, body: { mandatory: false } },
  },
}
