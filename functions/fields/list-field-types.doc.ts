import type { OperationDoc } from '../operation-doc.ts'
import { fieldTypePage } from './answers.doc.ts'
import { xmlNames } from './xml-names.ts'

export const listFieldTypesDoc: OperationDoc = {
  summary: 'List the types of system fields',
  description: 'The catalogue: every type of system field that can be placed on a form.',
  answers: { 200: { description: 'The catalogue.', schema: fieldTypePage, xml: xmlNames.fieldTypes } },
}
