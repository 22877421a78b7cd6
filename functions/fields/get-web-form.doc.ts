import type { OperationDoc } from '../operation-doc.ts'
import { webForm } from './answers.doc.ts'
import { xmlNames } from './xml-names.ts'

export const getWebFormDoc: OperationDoc = {
  summary: 'Read a web form',
  answers: {
    200: {
      description: 'The web form.',
      schema: webForm,
      xml: xmlNames.webForm,
      links: { listFields: {}, createField: {} },
    },
  },
  errors: ['webFormUnknown'],
  provoked: { webFormUnknown: { path: { webForm: 404 } } },
}
