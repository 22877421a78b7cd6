import type { OperationDoc } from '../operation-doc.ts'
import { webFormPage } from './answers.doc.ts'
import { xmlNames } from './xml-names.ts'

export const listWebFormsDoc: OperationDoc = {
  summary: 'List the web forms of a site',
  answers: {
    200: {
      description: 'The web forms, sorted by id.',
      schema: webFormPage,
      xml: xmlNames.webForms,
      links: {
        getWebForm: { webForm: '$response.body#/items/0/id' },
        listFields: { webForm: '$response.body#/items/0/id' },
      },
    },
  },
}
