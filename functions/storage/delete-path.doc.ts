import * as z from 'zod/mini'
import type { OperationDoc } from '../operation-doc.ts'
import { deleting } from './answers.doc.ts'

const query = {
  version: {
    description: '`draft` deletes the draft of a page alone. For a folder or what is no page it is passed over.',
    schema: z.literal('draft'),
    example: 'draft',
  },
  force: {
    description: '`false` spares a folder that is not empty.',
    schema: z.enum(['true', 'false']),
    example: 'false',
  },
} as const

export const deletePathDoc: OperationDoc = {
  summary: 'Delete a file, a draft or a folder with its contents',
  query,
  answers: {
    200: { description: 'It is gone.' },
    202: { description: 'The folder is large: the rest goes on being deleted.', schema: deleting },
  },
  errors: [
    'storageRefused',
    'fileUnknown',
    'pathUnknown',
    'folderGoing',
    'workflowDeleted',
    'nameRequired',
    'folderReserved',
    'folderNotEmpty',
  ],
  example: { path: { path: 'notes' }, query: { force: 'true' } },
}

export const deleteRootDoc: OperationDoc = {
  summary: 'Be told that the root of the storage cannot be deleted',
  query,
  answers: {},
  errors: ['storageRefused', 'nameRequired'],
  example: 'none',
}
