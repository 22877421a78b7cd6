import * as z from 'zod/mini'
import type { ErrorName } from '../../lib/errors.ts'
import { mostFiles } from '../../lib/storage/upload-files.ts'
import type { OperationDoc, Provoked } from '../operation-doc.ts'
import { success } from './answers.doc.ts'
import { asBytes, exampleUpload, malformed, malformedOrRefused } from './upload-examples.doc.ts'

export const uploadErrors: readonly ErrorName[] = [
  'storageRefused',
  'notAFile',
  'fileTooLarge',
  'regionNameInvalid',
  'tagOutsideRegions',
  'tagMissing',
  'pathUnknown',
  'folderGoing',
  'workflowUpdated',
  'nameRequired',
  'urlInvalid',
  'nameTaken',
  'folderUnknown',
  'destinationExists',
  'nameTooLong',
]

const form = z
  .object({ file: z.array(z.file()).check(z.minLength(1), z.maxLength(mostFiles)) })
  .register(z.globalRegistry, {
    id: 'Files',
    description: 'Each part `file` is a file, under the name that the part gives.',
  })

export const uploadBodies = { 'multipart/form-data': form }

const docOf = (
  { summary, links, name }: { summary: string; links: boolean; name: string },
  provoked: Provoked,
): OperationDoc => ({
  summary,
  description:
    'All of the files, or none. Folders on the way are created, and files that are there are replaced. The multipart body ' +
    'may come as `application/octet-stream`; its boundary is then taken from its first line.',
  body: { schema: form, mediaTypes: { ...uploadBodies, 'application/octet-stream': z.unknown() } },
  answers: {
    200: {
      description: 'All of the files are stored.',
      schema: success,
      ...(links && { links: { readPath: {}, deletePath: {} } }),
    },
  },
  errors: uploadErrors,
  examples: [exampleUpload({ name, content: 'Hello' }), asBytes({ name, content: 'Hello' })],
  provoked,
})

export const uploadDoc = {
  folder: docOf({ summary: 'Upload files into a folder', links: true, name: 'hello.txt' }, malformedOrRefused),
  root: docOf({ summary: 'Upload files into the root of the storage', links: false, name: 'hello.txt' }, malformed),
} as const satisfies Record<string, OperationDoc>
