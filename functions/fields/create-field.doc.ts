import * as z from 'zod/mini'
import { largestDocument } from '../../lib/http/read-body.ts'
import type { OperationDoc } from '../operation-doc.ts'
import { createdField } from './answers.doc.ts'
import { newFieldBody, typeId } from './field-body.ts'
import { xmlNames } from './xml-names.ts'

typeId.register(z.globalRegistry, {
  id: 'FieldTypeId',
  description: 'The identifier of a type of system field, as a number or in a string.',
})
const newField = newFieldBody.register(z.globalRegistry, { id: 'NewField' })

const createdId = { field: '$response.body#/id' }

export const createFieldDoc: OperationDoc = {
  summary: 'Put a system field on a web form',
  description:
    'Without `order`, the field goes behind the last one. On a taken position, the field that has it and those directly ' +
    'behind it move down by one, no further than the first gap.',
  body: { schema: newField, xml: xmlNames.field },
  answers: {
    201: {
      description: 'The field is on the form.',
      schema: createdField,
      xml: xmlNames.field,
      headers: ['Location'],
      links: { getField: createdId, updateField: createdId, deleteField: createdId },
    },
  },
  errors: ['fieldsMalformed', 'webFormUnknown', 'fieldTypeTaken'],
  examples: [{ body: { type: { id: -7 }, mandatory: true, order: 2 } }],
  provoked: {
    fieldsMalformed: { body: { type: { id: -1 }, mandatory: 'perhaps' } },
    fieldTypeTaken: { body: { type: { id: -2 }, mandatory: true } },
    mediaTypeUnsupported: { headers: { 'Content-Type': 'text/plain' }, body: 'mandatory' },
    bodyTooLarge: { body: { name: 'x'.repeat(largestDocument) } },
  },
}
