import type { OperationDoc } from '../operation-doc.ts'

export const deleteFieldDoc: OperationDoc = {
  summary: 'Take a system field off a web form',
  description: 'The others stay where they are: the position becomes a gap.',
  answers: { 200: { description: 'The field is no longer on the form.' } },
  errors: ['webFormUnknown', 'fieldUnknown', 'conditionFailed'],
  examples: [{ path: { field: -7 } }],
}
