import type { ErrorName } from '../../core/errors.ts'
import { named, type ParameterContract, type ParameterContracts, parameter, text } from '../contract.ts'
import { bytes, form, formBodies, success } from './contract-schemas.ts'
import { creation, placementErrors } from './contract-uploads.ts'
import { deletedVersion, force, pageCursor, pageLimit, recursive, restoreBody } from './switches.ts'

// What operations of files share in the document: their switches, headers, errors, and how files are sent.

force.register(...named('Force'))
restoreBody.register(
  ...named(
    'Restoration',
    'What comes back: the newest state that is kept, or the `version` of a file. `replace`: also where something is there meanwhile.',
  ),
)

export const metaSwitch: ParameterContract = text('Its presence asks for what the path is, not for its bytes.', '')

export const meta = { meta: metaSwitch }

export const metaSwitches: ParameterContracts = {
  ...meta,
  limit: parameter('How many entries an answer holds; for `meta`, `versions` and `deleted`.', 100, pageLimit),
  cursor: parameter('The `cursor` of the answer before; for `meta`, `versions` and `deleted`.', '', pageCursor),
  recursive: parameter(
    '`true` lists every file below the folder instead, up to 1,000 at once, sorted by its path; for `meta`.',
    'true',
    recursive,
  ),
}

/** What was, and what would go. */
export const historySwitches: ParameterContracts = {
  deleted: text(
    'Its presence asks for what was removed from the folder and is not there again, 100 entries unless told; the folder itself may be gone.',
    '',
  ),
  removal: text('Its presence asks for what a DELETE of the path would take along. Nothing is removed.', ''),
}

export const deleteSwitches: ParameterContracts = {
  version: parameter(
    '`draft` deletes the draft of a page alone. For a folder or what is no page it is passed over.',
    'draft',
    deletedVersion,
  ),
  force: parameter('`false` spares a folder that is not empty.', 'false', force),
}

// Request headers that operations share.

export const noneMatch: ParameterContracts = {
  'If-None-Match': text(
    '`*`: changes only where nothing is. ETags: changes only what is in none of these states.',
    '"an-etag-of-before"',
  ),
}

export const digests: ParameterContracts = {
  'Content-MD5': text(
    'The MD5 of the content of a file in base64: other bytes are not stored.',
    'ixqZU8RhEpaoJ6v4xHgE1w==',
  ),
  'Content-Digest': text(
    'The SHA-256 of the content of a file (RFC 9530): other bytes are not stored. Other algorithms are passed over.',
    'sha-256=:GF+NsyJx/iX1Yab8k4suJkMG7DBO2lGAB9F2SCY4GWk=:',
  ),
}

// Errors that operations share.

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

export const eitherUploadErrors = [
  ...uploadErrors,
  'protocolVersionUnknown',
  'uploadTooLarge',
  'checksumMismatch',
  'chunkMismatch',
  'mediaTypeUnsupported',
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
    'All of the files, or none. Folders on the way are created, and files that are there are replaced. The multipart body ' +
    'may come as `application/octet-stream`; its boundary is then taken from its first line. With `Tus-Resumable` it is the beginning of a resumable ' +
    'upload of one file instead (https://tus.io): the body, if there is one, are its first bytes.',
  headers: { ...noneMatch, ...creation },
  query: {
    // Beside the security schemes, as api.md has it for operation 12: generated clients know one way only to send a token by themselves.
    access_token: text('The access token, for who sends no `Authorization`; the header wins.', 'ACCESS_TOKEN'),
  },
  body: { schema: form, mediaTypes: { ...formBodies, 'application/octet-stream': bytes } },
  errors: eitherUploadErrors,
} as const

export const stored = { description: 'All of the files are stored.', schema: success }
export const pathLinks = { readPath: {}, deletePath: {} }
export const validators = ['ETag', 'Last-Modified', 'Accept-Ranges'] as const
