import type { OperationDoc } from '../operation-doc.ts'
import { field } from './answers.doc.ts'
import { xmlNames } from './xml-names.ts'

export const getFieldDoc: OperationDoc = {
  summary: 'Read a system field of a web form',
  answers: {
    200: {
      description: 'The field.',
      schema: field,
      xml: xmlNames.field,
      headers: ['ETag'],
      links: { updateField: {}, deleteField: {} },
    },
  },
  errors: ['webFormUnknown', 'fieldUnknown'],
  provoked: { fieldUnknown: { path: { field: -25 } } },
}
