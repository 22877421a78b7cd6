import * as z from 'zod/mini'
import type { ErrorName } from '../../core/errors.ts'
import type { ParameterContract, ParameterContracts } from '../contract.ts'
import { bytes, form, formBodies, success } from './contract-schemas.ts'
import { creation, placementErrors } from './contract-uploads.ts'
import { deletedVersion, force, pageCursor, pageLimit, recursive, restoreBody } from './switches.ts'

// What operations of files share in the document: their switches, headers, errors, and how files are sent.

force.register(z.globalRegistry, { id: 'Force' })
restoreBody.register(z.globalRegistry, {
  id: 'Restoration',
  description:
    'What comes back: the newest state that is kept, or the `version` of a file. `replace`: also where something is there meanwhile.',
})

export const metaSwitch: ParameterContract = {
  description: 'Its presence asks for what the path is, not for its bytes.',
  schema: z.string(),
  example: '',
}

export const meta = { meta: metaSwitch }

export const metaSwitches: ParameterContracts = {
  ...meta,
  limit: {
    description: 'How many entries an answer holds; for `meta`, `versions` and `deleted`.',
    schema: pageLimit,
    example: 100,
  },
  cursor: {
    description: 'The `cursor` of the answer before; for `meta`, `versions` and `deleted`.',
    schema: pageCursor,
    example: '',
  },
  recursive: {
    description:
      '`true` lists every file below the folder instead, up to 1,000 at once, sorted by its path; for `meta`.',
    schema: recursive,
    example: 'true',
  },
}

/** What was, and what would go. */
export const historySwitches: ParameterContracts = {
  deleted: {
    description:
      'Its presence asks for what was removed from the folder and is not there again, 100 entries unless told; the folder itself may be gone.',
    schema: z.string(),
    example: '',
  },
  removal: {
    description: 'Its presence asks for what a DELETE of the path would take along. Nothing is removed.',
    schema: z.string(),
    example: '',
  },
}

export const deleteSwitches: ParameterContracts = {
  version: {
    description: '`draft` deletes the draft of a page alone. For a folder or what is no page it is passed over.',
    schema: deletedVersion,
    example: 'draft',
  },
  force: { description: '`false` spares a folder that is not empty.', schema: force, example: 'false' },
}

// Request headers that operations share.

export const noneMatch: ParameterContracts = {
  'If-None-Match': {
    description: '`*`: changes only where nothing is. ETags: changes only what is in none of these states.',
    schema: z.string(),
    example: '"an-etag-of-before"',
  },
}

export const digests: ParameterContracts = {
  'Content-MD5': {
    description: 'The MD5 of the content of a file in base64: other bytes are not stored.',
    schema: z.string(),
    example: 'ixqZU8RhEpaoJ6v4xHgE1w==',
  },
  'Content-Digest': {
    description:
      'The SHA-256 of the content of a file (RFC 9530): other bytes are not stored. Other algorithms are passed over.',
    schema: z.string(),
    example: 'sha-256=:GF+NsyJx/iX1Yab8k4suJkMG7DBO2lGAB9F2SCY4GWk=:',
  },
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
    access_token: {
      description: 'The access token, for who sends no `Authorization`; the header wins.',
      schema: z.string(),
      example: 'ACCESS_TOKEN',
    },
  },
  body: { schema: form, mediaTypes: { ...formBodies, 'application/octet-stream': bytes } },
  errors: eitherUploadErrors,
} as const

export const stored = { description: 'All of the files are stored.', schema: success }
export const pathLinks = { readPath: {}, deletePath: {} }
export const validators = ['ETag', 'Last-Modified', 'Accept-Ranges'] as const
