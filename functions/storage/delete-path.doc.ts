import type { OperationDoc } from '../operation-doc.ts'
import { deleting } from './answers.doc.ts'
import { stage } from './stage.doc.ts'
import { deletedVersion, force } from './switches.ts'

const query = {
  version: {
    description: '`draft` deletes the draft of a page alone. For a folder or what is no page it is passed over.',
    schema: deletedVersion,
    example: 'draft',
  },
  force: {
    description: '`false` spares a folder that is not empty.',
    schema: force,
    example: 'false',
  },
} as const

const storageRefused = { query: { force: 'maybe' } }

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
  examples: [{ path: { path: 'notes' }, query: { force: 'true' } }, { path: { path: stage.folderToGo } }],
  provoked: {
    storageRefused,
    workflowDeleted: { path: { path: stage.pageInWorkflow } },
    folderReserved: { path: { path: 'Templates' } },
    folderNotEmpty: { path: { path: stage.folder }, query: { force: 'false' } },
  },
}

export const deleteRootDoc: OperationDoc = {
  summary: 'Be told that the root of the storage cannot be deleted',
  query,
  answers: {},
  errors: ['storageRefused', 'nameRequired'],
  examples: [],
  provoked: { storageRefused, nameRequired: {} },
}
