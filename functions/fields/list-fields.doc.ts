import type { OperationDoc } from '../operation-doc.ts'
import { fieldPage } from './answers.doc.ts'
import { xmlNames } from './xml-names.ts'

export const listFieldsDoc: OperationDoc = {
  summary: 'List the system fields of a web form',
  description: 'All of them, on one page, sorted by order.',
  answers: {
    200: {
      description: 'The fields of the form.',
      schema: fieldPage,
      xml: xmlNames.fields,
      headers: ['ETag'],
      links: { getField: { field: '$response.body#/items/0/id' } },
    },
  },
  errors: ['webFormUnknown'],
}
