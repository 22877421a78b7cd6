import * as z from 'zod/mini'
import type { ErrorName } from '../../core/errors.ts'
import { type GroupContract, type ParameterContract, type ParameterContracts, text } from '../contract.ts'
import { examplesOf } from './contract-examples.ts'
import { bytes } from './contract-schemas.ts'

// What the document says of resumable uploads (decisions.md, section 9).

const tusVersion: ParameterContract = text('The version of tus, the protocol of resumable uploads.', '1.0.0')
const inTus: ParameterContracts = { 'Tus-Resumable': { ...tusVersion, required: true } }

const uploadChecksum: ParameterContracts = {
  'Upload-Checksum': text(
    '`sha256`, `sha1` or `md5`, a blank and the checksum of the body in base64: other bytes are not kept.',
    'sha1 qvTGHdzF6KLavt4PO0gs2a6pQ00=',
  ),
}

const uploadLength: ParameterContracts = {
  'Upload-Length': text('How many bytes the upload has in all.', '11'),
}

/** What a POST says that begins one. */
export const creation: ParameterContracts = {
  'Tus-Resumable': tusVersion,
  ...uploadLength,
  'Upload-Defer-Length': text('`1`: the length comes later.', '1'),
  'Upload-Metadata': text(
    '`filename` and, if you like, `filetype` and `version` (`draft`, `draft-publish`), each in base64.',
    'filename bGFyZ2UudHh0',
  ),
  ...uploadChecksum,
}

const append: ParameterContracts = {
  ...inTus,
  'Upload-Offset': { description: 'Where the bytes go on.', schema: z.string(), example: '0', required: true },
  ...uploadLength,
  ...uploadChecksum,
}

const stateHeaders = ['Upload-Offset', 'Tus-Resumable'] as const

export const begun = {
  description: 'With `Tus-Resumable`: a resumable upload has begun. It goes on at `Location`.',
  headers: ['Location', 'Tus-Resumable'],
  optionalHeaders: ['Upload-Offset', 'Upload-Expires'],
} as const

/** What keeps bytes from their place, be they new or those of an upload that has all of them. */
export const placementErrors = [
  'fileTooLarge',
  'regionNameInvalid',
  'tagOutsideRegions',
  'tagMissing',
  'pathUnknown',
  'folderGoing',
  'workflowUpdated',
  'folderUnknown',
  'destinationExists',
] as const satisfies readonly ErrorName[]

/** What an upload ends with that has all of its bytes, and is refused its place. */
const completionErrors = [
  'protocolVersionUnknown',
  'uploadUnknown',
  ...placementErrors,
] as const satisfies readonly ErrorName[]

/** The operations at the address of an upload. */
export const uploadOperations = {
  describeUpload: {
    summary: 'See how far a resumable upload is',
    description:
      'It is complete when `Upload-Offset` is `Upload-Length`. One that could not be put in place in passing is tried again first.',
    headers: inTus,
    answers: {
      200: {
        description: 'How far it is.',
        headers: [...stateHeaders, 'Cache-Control'],
        optionalHeaders: ['Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata', 'Upload-Expires'],
      },
    },
    errors: completionErrors,
    examples: examplesOf.describeUpload,
  },
  appendToUpload: {
    summary: 'Go on with a resumable upload',
    description:
      'What is answered is kept for good. With the last byte the file is put in place, by the rules of any upload: when these refuse it, the upload has ended.',
    headers: append,
    // Without bytes it asks for what is left to be decided.
    body: { schema: bytes, mediaTypes: { 'application/offset+octet-stream': bytes }, optional: true },
    answers: {
      204: { description: 'The bytes are kept.', headers: stateHeaders, optionalHeaders: ['Upload-Expires'] },
    },
    errors: [
      ...completionErrors,
      'storageRefused',
      'checksumMismatch',
      'chunkMismatch',
      'mediaTypeUnsupported',
      'uploadTooLarge',
      'offsetMismatch',
      'appendGoing',
    ],
    examples: examplesOf.appendToUpload,
  },
  cancelUpload: {
    summary: 'End a resumable upload',
    description: 'What has come of it goes. A file that is in place stays.',
    headers: inTus,
    answers: { 204: { description: 'It has ended.', headers: ['Tus-Resumable'] } },
    errors: ['protocolVersionUnknown', 'uploadUnknown'],
    examples: examplesOf.cancelUpload,
  },
} as const satisfies Partial<GroupContract<'storage'>['operations']>
