import type { ErrorName } from '../../core/errors.ts'
import { type GroupContract, named, ok, type ParameterContracts, parameter, text } from '../contract.ts'
import { examplesOf } from './contract-examples.ts'
import { bytes, form, formBodies, success } from './contract-schemas.ts'
import { deletedVersion, force, pageCursor, pageLimit, recursive, restoreBody } from './switches.ts'

// Switches, headers and errors that operations on files share, and resumable uploads.

force.register(...named('Force'))
restoreBody.register(
  ...named(
    'Restoration',
    'Restores the newest kept state, or the `version` of a file. With `replace`, it replaces the present state.',
  ),
)

export const meta = {
  meta: text('Asks for information about the path, not for its bytes. The switch needs no value.', ''),
}

export const metaSwitches: ParameterContracts = {
  ...meta,
  limit: parameter('The most entries of an answer, for `meta`, `versions` and `deleted`.', 100, pageLimit),
  cursor: parameter('The `cursor` of the previous answer, for `meta`, `versions` and `deleted`.', '', pageCursor),
  recursive: parameter(
    'For `meta`: `true` lists every file below the folder instead, up to 1,000 per answer, sorted by path.',
    'true',
    recursive,
  ),
}

export const historySwitches: ParameterContracts = {
  deleted: text(
    'Lists removed files and folders that have not come back: 100 unless `limit` is given. The folder itself may be ' +
      'removed. The switch needs no value.',
    '',
  ),
  removal: text('Shows what a DELETE of the path would remove, and removes nothing. The switch needs no value.', ''),
}

export const deleteSwitches: ParameterContracts = {
  version: parameter(
    '`draft` deletes only the draft of a page. Folders and other files ignore it.',
    'draft',
    deletedVersion,
  ),
  force: parameter('`false` refuses to delete a folder that is not empty.', 'false', force),
}

export const noneMatch: ParameterContracts = {
  'If-None-Match': text(
    '`*`: change something only if nothing is there. ETags: only if the present state is none of them.',
    '"an-etag-of-before"',
  ),
}

export const digests: ParameterContracts = {
  'Content-MD5': text(
    'The MD5 of the content of a file, in base64. Other bytes are not stored.',
    'ixqZU8RhEpaoJ6v4xHgE1w==',
  ),
  'Content-Digest': text(
    'The SHA-256 of the content of a file (RFC 9530). Other bytes are not stored. Other algorithms are ignored.',
    'sha-256=:GF+NsyJx/iX1Yab8k4suJkMG7DBO2lGAB9F2SCY4GWk=:',
  ),
}

const tusVersion = text('The version of tus, the protocol of resumable uploads.', '1.0.0')
const inTus: ParameterContracts = { 'Tus-Resumable': { ...tusVersion, required: true } }
const uploadLength = { 'Upload-Length': text('The number of bytes of the whole upload.', '11') }
const uploadChecksum = {
  'Upload-Checksum': text(
    '`sha256`, `sha1` or `md5`, a space and the checksum of the body in base64. Other bytes are not stored.',
    'sha1 qvTGHdzF6KLavt4PO0gs2a6pQ00=',
  ),
}

const creation: ParameterContracts = {
  'Tus-Resumable': tusVersion,
  ...uploadLength,
  'Upload-Defer-Length': text('`1`: a later request gives the length.', '1'),
  'Upload-Metadata': text(
    '`filename` and, if you like, `filetype` and `version` (`draft`, `draft-publish`), each in base64.',
    'filename bGFyZ2UudHh0',
  ),
  ...uploadChecksum,
}

/** Errors of any upload when its file is put in place, also at the end of a resumable one. */
const placementErrors = [
  'fileTooLarge',
  'regionNameInvalid',
  'tagOutsideRegions',
  'tagMissing',
  'pathUnknown',
  'folderLocked',
  'workflowUpdated',
  'folderUnknown',
  'destinationExists',
] as const satisfies readonly ErrorName[]

const uploadErrors = [
  'conditionFailed',
  'storageRefused',
  'notAFile',
  ...placementErrors,
  'nameRequired',
  'urlInvalid',
  'nameTaken',
  'nameTooLong',
] as const satisfies readonly ErrorName[]

export const putErrors = [
  ...uploadErrors,
  'fileUnknown',
  'workflowDeleted',
  'folderReserved',
  'checksumMismatch',
  'mediaTypeUnsupported',
  'bodyTooLarge',
] as const satisfies readonly ErrorName[]

export const upload = {
  description:
    'Stores all of the files or none. Missing folders are created, and existing files are replaced. A multipart body ' +
    'may be sent as `application/octet-stream`; its first line then gives the boundary. With `Tus-Resumable`, the ' +
    'request begins a resumable upload of one file instead (https://tus.io), and a body holds its first bytes.',
  headers: { ...noneMatch, ...creation },
  query: {
    // Generated clients send a token in one way only, so this way is listed beside the security schemes.
    access_token: text('The access token, if there is no `Authorization`; the header wins.', 'ACCESS_TOKEN'),
  },
  body: { schema: form, mediaTypes: { ...formBodies, 'application/octet-stream': bytes } },
  errors: [
    ...uploadErrors,
    'protocolVersionUnknown',
    'uploadTooLarge',
    'checksumMismatch',
    'chunkMismatch',
    'mediaTypeUnsupported',
  ],
} as const

export const stored = { description: 'All of the files are stored.', schema: success }
export const begun = {
  description: 'With `Tus-Resumable`: a resumable upload has begun. Send its bytes to `Location`.',
  headers: ['Location', 'Tus-Resumable'],
  optionalHeaders: ['Upload-Offset', 'Upload-Expires'],
} as const

export const pathLinks = { readPath: {}, deletePath: {} }
export const validators = ['ETag', 'Last-Modified', 'Accept-Ranges'] as const

const uploadState = ['Upload-Offset', 'Tus-Resumable'] as const

const completionErrors = [
  'protocolVersionUnknown',
  'uploadUnknown',
  ...placementErrors,
] as const satisfies readonly ErrorName[]

export const uploadOperations = {
  describeUpload: {
    summary: 'Show the progress of a resumable upload',
    description:
      'The upload is complete when `Upload-Offset` equals `Upload-Length`. If a passing fault kept its file from ' +
      'being put in place, the service tries again first.',
    headers: inTus,
    answers: ok('The progress of the upload.', undefined, {
      headers: [...uploadState, 'Cache-Control'],
      optionalHeaders: ['Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata', 'Upload-Expires'],
    }),
    errors: completionErrors,
    examples: examplesOf.describeUpload,
  },
  appendToUpload: {
    summary: 'Continue a resumable upload',
    description:
      'All bytes before the answered `Upload-Offset` are stored for good. The last byte puts the file in place, by ' +
      'the rules of every upload. If these rules refuse the file, the upload ends.',
    headers: {
      ...inTus,
      'Upload-Offset': { ...text('The position of the first byte of the body in the upload.', '0'), required: true },
      ...uploadLength,
      ...uploadChecksum,
    },
    // A request without bytes completes an upload that could not be put in place before.
    body: { schema: bytes, mediaTypes: { 'application/offset+octet-stream': bytes }, optional: true },
    answers: {
      204: { description: 'The bytes are stored.', headers: uploadState, optionalHeaders: ['Upload-Expires'] },
    },
    errors: [
      ...completionErrors,
      'storageRefused',
      'checksumMismatch',
      'chunkMismatch',
      'mediaTypeUnsupported',
      'uploadTooLarge',
      'offsetMismatch',
      'uploadLocked',
    ],
    examples: examplesOf.appendToUpload,
  },
  cancelUpload: {
    summary: 'Cancel a resumable upload',
    description: 'The stored bytes of the upload are removed. A file that is already in place stays.',
    headers: inTus,
    answers: { 204: { description: 'The upload has ended.', headers: ['Tus-Resumable'] } },
    errors: ['protocolVersionUnknown', 'uploadUnknown'],
    examples: examplesOf.cancelUpload,
  },
} as const satisfies Partial<GroupContract<'storage'>['operations']>
