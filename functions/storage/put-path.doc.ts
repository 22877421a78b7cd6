import * as z from 'zod/mini'
import type { OperationDoc } from '../operation-doc.ts'
import { success } from './answers.doc.ts'
import { newNameBody } from './new-name-body.ts'
import { meta } from './parameters.doc.ts'
import { stage } from './stage.doc.ts'
import { putVersion } from './switches.ts'
import { uploadBodies, uploadErrors } from './upload.doc.ts'
import { exampleUpload, malformed } from './upload-examples.doc.ts'

const newName = newNameBody.register(z.globalRegistry, {
  id: 'NewName',
  description: 'The new name of a file or folder: one segment.',
})

const jsonFile = z.unknown().register(z.globalRegistry, { description: 'Without `meta`: what the JSON file holds.' })

const asText = { headers: { 'Content-Type': 'text/plain' }, body: 'Hello' }

const errors = [
  ...uploadErrors,
  'fileUnknown',
  'workflowDeleted',
  'folderReserved',
  'mediaTypeUnsupported',
  'bodyTooLarge',
] as const

export const putPathDoc: OperationDoc = {
  summary: 'Store a file, create a folder, or rename',
  description:
    'The body is the content of the file. With `meta` it is `{"name": …}`, and renames; with `type=folder` there is none; ' +
    'a body of the type `multipart/form-data` is an upload into the folder.',
  query: {
    ...meta,
    type: {
      description: '`folder` creates the folder.',
      schema: z.string(),
      example: 'folder',
    },
    version: {
      description: '`draft` stores the draft of a page; `draft-publish`, or nothing, the live file.',
      schema: putVersion,
      example: 'draft-publish',
    },
  },
  body: {
    optional: true,
    schema: z.unknown(),
    mediaTypes: { '*/*': z.unknown(), 'application/json': z.union([newName, jsonFile]), ...uploadBodies },
  },
  answers: { 200: { description: 'It is done.', schema: success, links: { readPath: {}, deletePath: {} } } },
  errors,
  examples: [
    { path: { path: 'notes/draft.txt' }, ...asText },
    { path: { path: 'notes/draft.txt' }, query: { meta: '' }, body: { name: 'final.txt' } },
    { path: { path: 'notes' }, ...exampleUpload({ name: 'hello.txt', content: 'Hello' }) },
  ],
  provoked: {
    storageRefused: { query: { version: 'final' }, ...asText },
    fileTooLarge: { headers: { 'Content-Length': String(1024 ** 4), Expect: '100-continue' } },
    pathUnknown: { path: { path: `${stage.file}/below.txt` }, ...asText },
    folderGoing: { path: { path: `${stage.goingFolder}/new.txt` }, ...asText },
    workflowUpdated: { path: { path: stage.pageInWorkflow }, ...asText },
    destinationExists: { path: { path: stage.folder }, ...asText },
  },
}

/** The root is neither a file nor can it be made or renamed: what is left of a PUT is the upload. */
export const putRootDoc: OperationDoc = {
  summary: 'Upload files into the root of the storage, by PUT',
  body: { schema: z.unknown(), mediaTypes: uploadBodies },
  answers: { 200: { description: 'All of the files are stored.', schema: success } },
  errors,
  examples: [exampleUpload({ name: 'hello.txt', content: 'Hello' })],
  provoked: malformed,
}
