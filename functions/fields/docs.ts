import type { GroupDoc } from '../operation-doc.ts'
import { createFieldDoc } from './create-field.doc.ts'
import { deleteFieldDoc } from './delete-field.doc.ts'
import { getFieldDoc } from './get-field.doc.ts'
import { getHealthDoc } from './get-health.doc.ts'
import { getWebFormDoc } from './get-web-form.doc.ts'
import { listFieldTypesDoc } from './list-field-types.doc.ts'
import { listFieldsDoc } from './list-fields.doc.ts'
import { listWebFormsDoc } from './list-web-forms.doc.ts'
import { parameters } from './params.doc.ts'
import { updateFieldDoc } from './update-field.doc.ts'

/** What the document says of this group. */
export const fieldsDoc: GroupDoc<'fields'> = {
  tag: {
    name: 'Web forms',
    description: 'The web forms of a site and the system fields on them. Answers and bodies are JSON or XML.',
  },
  parameters,
  operations: {
    getHealth: getHealthDoc,
    listFields: listFieldsDoc,
    getField: getFieldDoc,
    createField: createFieldDoc,
    updateField: updateFieldDoc,
    deleteField: deleteFieldDoc,
    listWebForms: listWebFormsDoc,
    getWebForm: getWebFormDoc,
    listFieldTypes: listFieldTypesDoc,
  },
}
