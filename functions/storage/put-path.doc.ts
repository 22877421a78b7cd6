import * as z from 'zod/mini'
import type { OperationDoc } from '../operation-doc.ts'
import { success } from './answers.doc.ts'
import { meta } from './parameters.doc.ts'
import { exampleUpload, uploadBodies, uploadErrors } from './upload.doc.ts'

const newName = z
  .object({ name: z.string() })
  .register(z.globalRegistry, { id: 'NewName', description: 'The new name of a file or folder: one segment.' })

const jsonFile = z.unknown().register(z.globalRegistry, { description: 'Without `meta`: what the JSON file holds.' })

const query = {
  ...meta,
  type: {
    description: '`folder` creates the folder.',
    schema: z.string(),
    example: 'folder',
  },
  version: {
    description: '`draft` stores the draft of a page; `draft-publish`, or nothing, the live file.',
    schema: z.enum(['draft', 'draft-publish']),
    example: 'draft-publish',
  },
} as const

const docOf = (summary: string, doc: Pick<OperationDoc, 'example'>, links: boolean): OperationDoc => ({
  summary,
  description:
    'The body is the content of the file. With `meta` it is `{"name": …}`, and renames; with `type=folder` there is none; ' +
    'a body of the type `multipart/form-data` is an upload into the folder.',
  query,
  body: {
    optional: true,
    schema: z.unknown(),
    mediaTypes: { '*/*': z.unknown(), 'application/json': z.union([newName, jsonFile]), ...uploadBodies },
  },
  answers: {
    200: { description: 'It is done.', schema: success, ...(links && { links: { readPath: {}, deletePath: {} } }) },
  },
  errors: [...uploadErrors, 'fileUnknown', 'workflowDeleted', 'folderReserved', 'mediaTypeUnsupported', 'bodyTooLarge'],
  ...doc,
})

export const putPathDoc = docOf(
  'Store a file, create a folder, or rename',
  { example: { path: { path: 'notes/hello.txt' }, headers: { 'Content-Type': 'text/plain' }, body: 'Hello' } },
  true,
)
export const putRootDoc = docOf(
  'Upload files into the root of the storage, by PUT',
  { example: exampleUpload('hello.txt', 'Hello') },
  false,
)
