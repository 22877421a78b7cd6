import * as z from 'zod/mini'
import type { ErrorName } from '../../lib/errors.ts'
import { type GroupContract, type ParameterContract, type ParameterContracts, siteParameter } from '../contract.ts'
import { changesOperation } from './contract-changes.ts'
import { exampleFiles, examplesOf } from './contract-examples.ts'
import { removalPreview, removedPage, versionPage } from './contract-history.ts'
import {
  bytes,
  deleting,
  downloadLink,
  entry,
  fileTypes,
  form,
  formBodies,
  progress,
  success,
} from './contract-schemas.ts'
import { begun, creation, uploadOperations } from './contract-uploads.ts'
import {
  copyPath,
  deletedVersion,
  force,
  newName,
  newPath,
  pageCursor,
  pageLimit,
  putVersion,
  recursive,
  restoreBody,
} from './switches.ts'

// Parameters that operations share.

force.register(z.globalRegistry, { id: 'Force' })
restoreBody.register(z.globalRegistry, {
  id: 'Restoration',
  description:
    'What comes back: the newest state that is kept, or the `version` of a file. `replace`: also where something is there meanwhile.',
})

const metaSwitch: ParameterContract = {
  description: 'Its presence asks for what the path is, not for its bytes.',
  schema: z.string(),
  example: '',
}

const meta = { meta: metaSwitch }

const metaSwitches: ParameterContracts = {
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
const historySwitches: ParameterContracts = {
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

const deleteSwitches: ParameterContracts = {
  version: {
    description: '`draft` deletes the draft of a page alone. For a folder or what is no page it is passed over.',
    schema: deletedVersion,
    example: 'draft',
  },
  force: { description: '`false` spares a folder that is not empty.', schema: force, example: 'false' },
}

// Request headers that operations share.

const noneMatch: ParameterContracts = {
  'If-None-Match': {
    description: '`*`: changes only where nothing is. ETags: changes only what is in none of these states.',
    schema: z.string(),
    example: '"an-etag-of-before"',
  },
}

const digests: ParameterContracts = {
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
] as const satisfies readonly ErrorName[]

const eitherUploadErrors = [
  ...uploadErrors,
  'protocolVersionUnknown',
  'uploadTooLarge',
  'checksumMismatch',
  'chunkMismatch',
  'mediaTypeUnsupported',
] as const satisfies readonly ErrorName[]

const putErrors = [
  ...uploadErrors,
  'fileUnknown',
  'workflowDeleted',
  'folderReserved',
  'checksumMismatch',
  'mediaTypeUnsupported',
  'bodyTooLarge',
] as const satisfies readonly ErrorName[]

const upload = {
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

const stored = { description: 'All of the files are stored.', schema: success }
const pathLinks = { readPath: {}, deletePath: {} }
const validators = ['ETag', 'Last-Modified', 'Accept-Ranges'] as const

/** What the document says of files and folders. */
export const storageContract: GroupContract<'storage'> = {
  tag: {
    name: 'Files',
    description:
      'The files and folders of a site. The token needs the permission "Can use SFTP & File Manager"; it may come in the query.',
  },
  parameters: {
    site: siteParameter,
    path: {
      description:
        'The path of a file or folder: UTF-8 segments of up to 255 bytes with slashes between, percent-encoded; up to 900 bytes in all. ' +
        'A run of slashes counts as one, in front too. What the examples read and delete is there after the first `npm start`.',
      schema: z.string(),
      example: 'notes',
    },
    upload: {
      description: 'The id of a resumable upload, from the `Location` of the answer that began it.',
      schema: z.string(),
      example: '5f0c8a529d1e4b7a8c650e2d9f417ab3',
    },
  },
  operations: {
    uploadToFolder: {
      summary: 'Upload files into a folder, or restore what was removed',
      ...upload,
      description:
        `${upload.description} With ` +
        '`restore` nothing is uploaded: the file or folder of that path comes back as it was removed, or, with ' +
        '`{"version": …}`, a file in one of its `versions`. What is there meanwhile is replaced with `{"replace": true}` alone; a folder brings along what its last ' +
        'removal took, up to 10,000 files and folders.',
      query: {
        ...upload.query,
        restore: {
          description: 'Its presence brings back what was removed; the body is `{}`, or says what and how.',
          schema: z.string(),
          example: '',
        },
      },
      // Named as JSON it would be all that generators of clients know of this body: they take JSON first, and files could not be uploaded.
      body: { ...upload.body, mediaTypes: { ...upload.body.mediaTypes, '*/*': restoreBody } },
      answers: { 200: { ...stored, links: pathLinks }, 201: begun },
      errors: [...eitherUploadErrors, 'fileUnknown', 'folderReserved'],
      ...examplesOf.uploadToFolder,
    },
    uploadToRoot: {
      summary: 'Upload files into the root of the storage',
      ...upload,
      answers: { 200: stored, 201: begun },
      ...examplesOf.uploadToRoot,
    },
    readRoot: {
      summary: 'See how far an upload is, or what the root of the storage holds',
      description: 'One of `status` and `meta` must be there; `status` comes first.',
      query: {
        status: {
          description: "Its presence asks for the progress of the token's newest upload; its value may be the token.",
          schema: z.string(),
          example: '',
        },
        ...metaSwitches,
        meta: { ...metaSwitch, sentAtFirst: true },
        ...historySwitches,
      },
      answers: {
        200: {
          description: 'The progress, what the root holds, or what was removed from it or would be.',
          schema: z.union([progress, entry, removedPage, removalPreview]),
        },
      },
      errors: ['storageRefused', 'notAFile'],
      ...examplesOf.readRoot,
    },
    readPath: {
      summary: 'Read a file, what a path is or was, or a link for a download',
      pathExamples: { path: exampleFiles.file },
      description:
        'The bytes are `application/octet-stream`, unless `Accept` names the own type of the file, or all of that kind (`text/*`). ' +
        'A path at which nothing is as written is looked up without case.',
      query: {
        ...metaSwitches,
        link: {
          description:
            'Its presence asks for a URL that gives the present version of the file, as an attachment, to whoever has it, for five minutes at the most.',
          schema: z.string(),
          example: '',
        },
        versions: {
          description: 'Its presence asks for the states in which the live file is or was, 100 unless told.',
          schema: z.string(),
          example: '',
        },
        versionId: {
          description: 'The bytes of one of its `versions`, in place of the present ones.',
          schema: z.string(),
          example: 'a-version-of-the-file',
        },
        ...historySwitches,
        version: {
          description:
            '`draft` reads the draft of a page, or the live file when there is none. Anything else is passed over.',
          schema: z.string(),
          example: 'draft',
        },
      },
      headers: {
        Range: {
          description: 'One range of bytes; several are passed over.',
          schema: z.string(),
          example: 'bytes=0-4',
        },
        'If-Range': {
          description: 'The ETag or Last-Modified of an earlier part.',
          schema: z.string(),
          example: 'Sat, 31 Jan 2026 12:00:00 GMT',
        },
      },
      answers: {
        200: {
          description:
            'The bytes of the file; with `meta`, what the path is; with `link`, a URL of the bytes; with `versions`, `deleted` or `removal`, what was or would go.',
          schema: z.union([entry, downloadLink, versionPage, removedPage, removalPreview]),
          mediaTypes: fileTypes,
          optionalHeaders: [...validators, 'X-Content-Length'],
        },
        206: {
          description: 'The bytes that `Range` asks for.',
          mediaTypes: fileTypes,
          headers: [...validators, 'Content-Range'],
          optionalHeaders: ['X-Content-Length'],
        },
        302: {
          description:
            'The bytes are more than an answer may hold, or are no text and the request has no `Accept`: they are at a URL that expires. Not on one machine.',
          headers: ['Location', 'Cache-Control'],
        },
        304: {
          description: 'What `If-None-Match` names is still the present state.',
          headers: ['ETag', 'Accept-Ranges'],
          // Gateways may take it out beside an `ETag` (RFC 9110, section 15.4.5).
          optionalHeaders: ['Last-Modified'],
        },
      },
      errors: [
        'conditionFailed',
        'storageRefused',
        'fileUnknown',
        'notAFile',
        'pathUnknown',
        'urlInvalid',
        'nameTooLong',
        'rangeNotSatisfiable',
      ],
      ...examplesOf.readPath,
    },
    deletePath: {
      summary: 'Delete a file, a draft or a folder with its contents',
      pathExamples: { path: 'old' },
      query: deleteSwitches,
      headers: noneMatch,
      answers: {
        200: { description: 'It is gone.' },
        202: { description: 'The folder is large: the rest goes on being deleted.', schema: deleting },
      },
      errors: [
        'conditionFailed',
        'storageRefused',
        'fileUnknown',
        'pathUnknown',
        'folderGoing',
        'workflowDeleted',
        'nameRequired',
        'folderReserved',
        'folderNotEmpty',
      ],
      ...examplesOf.deletePath,
    },
    deleteRoot: {
      summary: 'Be told that the root of the storage cannot be deleted',
      query: deleteSwitches,
      answers: {},
      errors: ['storageRefused', 'nameRequired'],
      ...examplesOf.deleteRoot,
    },
    putPath: {
      summary: 'Store a file, create a folder, rename, move or copy',
      pathExamples: { path: 'notes/draft.txt' },
      description:
        'The body is the content of the file, of any type: what is declared as JSON is stored as well. With `meta` it is `{"name": …}`, and renames, ' +
        '`{"path": …}`, and moves, or `{"copyTo": …}`, and copies the live files; all of it or nothing. With `type=folder` there is none; ' +
        'a body of the type `multipart/form-data` is an upload into the folder.',
      query: {
        ...meta,
        type: { description: '`folder` creates the folder.', schema: z.string(), example: 'folder' },
        version: {
          description: '`draft` stores the draft of a page; `draft-publish`, or nothing, the live file.',
          schema: putVersion,
          example: 'draft-publish',
        },
      },
      headers: { ...noneMatch, ...digests },
      body: {
        optional: true,
        schema: z.unknown(),
        mediaTypes: {
          'application/octet-stream': bytes,
          'application/json': z.union([newName, newPath, copyPath]),
          ...formBodies,
          '*/*': bytes,
        },
      },
      answers: { 200: { description: 'It is done.', schema: success, links: pathLinks } },
      errors: putErrors,
      ...examplesOf.putPath,
    },
    // The root is neither a file nor can it be made or renamed: what is left of a PUT is the upload.
    putRoot: {
      summary: 'Upload files into the root of the storage, by PUT',
      headers: noneMatch,
      body: { schema: z.unknown(), mediaTypes: formBodies },
      answers: { 200: stored },
      errors: putErrors,
      ...examplesOf.putRoot,
    },
    ...uploadOperations,
    listChanges: changesOperation,
  },
}
