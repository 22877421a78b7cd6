import * as z from 'zod/mini'
import type { ErrorName } from '../../lib/errors.ts'
import type { OperationDoc } from '../operation-doc.ts'
import { success } from './answers.doc.ts'

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

const form = z.object({ file: z.array(z.file()).check(z.minLength(1), z.maxLength(100)) }).register(z.globalRegistry, {
  id: 'Files',
  description: 'Each part `file` is a file, under the name that the part gives.',
})

export const uploadBodies = { 'multipart/form-data': form }

const boundary = 'a-boundary'

/** A body with one file in it. */
export const exampleUpload = (name: string, content: string) => ({
  headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  body: `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${content}\r\n--${boundary}--\r\n`,
})

const docOf = (summary: string, links: boolean, name: string): OperationDoc => ({
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
  example: exampleUpload(name, 'Hello'),
})

export const uploadDoc = {
  folder: docOf('Upload files into a folder', true, 'hello.txt'),
  root: docOf('Upload files into the root of the storage', false, 'welcome.txt'),
} as const satisfies Record<string, OperationDoc>
