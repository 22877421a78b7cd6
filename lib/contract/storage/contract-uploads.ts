import * as z from 'zod/mini'
import type { ErrorName } from '../../core/errors.ts'
import { flag, type GroupContract, ok, type ParameterContracts, switchesOf, text } from '../contract.ts'
import { bytes, form, formBodies, meta, noneMatch, pathLinks, success, uploadState } from './contract-schemas.ts'
import { copyPath, movePath, partsBody, partsQuery, putSwitches, renamePath, restorationOrParts } from './switches.ts'

const digests: ParameterContracts = {
  'Content-MD5': text(
    'The MD5 of the content of a file, in base64. If the bytes do not match, nothing is stored.',
    'ixqZU8RhEpaoJ6v4xHgE1w==',
  ),
  'Content-Digest': text(
    'The SHA-256 of the content of a file (RFC 9530). If the bytes do not match, nothing is stored. Other algorithms are ignored.',
    'sha-256=:GF+NsyJx/iX1Yab8k4suJkMG7DBO2lGAB9F2SCY4GWk=:',
  ),
}

const tusVersion = text('The version of tus, the protocol of resumable uploads.', '1.0.0')
const inTus: ParameterContracts = { 'Tus-Resumable': { ...tusVersion, required: true } }
const orInTus: ParameterContracts = { 'Tus-Resumable': tusVersion }
const uploadLength = { 'Upload-Length': text('The number of bytes of the whole upload.', '11') }
const uploadChecksum = {
  'Upload-Checksum': text(
    '`sha256`, `sha1` or `md5`, then a space and the checksum of the body in base64. If the bytes do not ' +
      'match, none are stored.',
    'sha1 qvTGHdzF6KLavt4PO0gs2a6pQ00=',
  ),
}

// Errors that can occur when the file of any upload is placed. For a resumable upload, this happens at its end.
const placementErrors: readonly ErrorName[] = [
  'fileTooLarge',
  'quotaExceeded',
  'regionNameInvalid',
  'tagOutsideRegions',
  'tagMissing',
  'pathUnknown',
  'folderLocked',
  'workflowUpdated',
  'folderUnknown',
  'destinationExists',
]

const uploadErrors: readonly ErrorName[] = [
  'conditionFailed',
  'storageRefused',
  'notAFile',
  ...placementErrors,
  'nameRequired',
  'urlInvalid',
  'nameTaken',
  'nameTooLong',
]

const contentErrors = ['checksumMismatch', 'mediaTypeUnsupported'] as const
const putErrors: readonly ErrorName[] = [
  ...uploadErrors,
  'fileUnknown',
  'workflowDeleted',
  'folderReserved',
  ...contentErrors,
  'bodyTooLarge',
]
const tusErrors = ['protocolVersionUnknown', 'uploadTooLarge', 'chunkMismatch', ...contentErrors] as const

const part = 'Content-Disposition: form-data; name="file"; filename="hello.txt"\r\n\r\nHello'
const exampleForm = {
  headers: { 'Content-Type': 'multipart/form-data; boundary=a-boundary' },
  body: `--a-boundary\r\n${part}\r\n--a-boundary--\r\n`,
  shown: { file: ['Hello'] },
}

const tus = { 'Tus-Resumable': '1.0.0' }

const upload = {
  description:
    'Stores all of the files or none. Missing folders are created, and existing files are replaced. A ' +
    'multipart body may be declared as `application/octet-stream`; the service then reads the boundary ' +
    'from its first line. With `Tus-Resumable`, the request instead begins a resumable upload of one file ' +
    '(https://tus.io), and its body may have the first bytes of the file.',
  headers: {
    ...noneMatch,
    'Tus-Resumable': tusVersion,
    ...uploadLength,
    'Upload-Defer-Length': text('`1` means that a later request gives the length.', '1'),
    'Upload-Metadata': text(
      '`filename`, and optionally `filetype` and `version` (`draft`, `draft-publish`), each in base64.',
      'filename bGFyZ2UudHh0',
    ),
    ...uploadChecksum,
  },
  query: {
    // Generated clients use only one security scheme. So `access_token` is also a parameter.
    access_token: text('The access token. It is ignored if the request has an `Authorization` header.', 'ACCESS_TOKEN'),
    parts: flag(
      'Begins an upload of one file whose parts you send to the bucket yourself. The body is `{"name": …, ' +
        '"size": …}`, with optional `type`, `version` and `digests`. With the `digests` of the first parts, the ' +
        'answer has their addresses.',
    ),
  },
  // Client generators prefer JSON: if the form were listed under application/json, their clients could not upload
  // files.
  body: { schema: form, mediaTypes: { ...formBodies, 'application/octet-stream': bytes, '*/*': partsBody } },
  errors: [...uploadErrors, ...tusErrors],
  examples: [
    exampleForm,
    { headers: { 'Content-Type': 'application/octet-stream' }, body: exampleForm.body },
    { headers: { ...tus, 'Upload-Length': '11', 'Upload-Metadata': 'filename bGFyZ2UudHh0' } },
    { query: { parts: '' }, body: { name: 'film.mp4', size: 104_857_600, type: 'video/mp4' } },
  ],
} as const

const stored = { description: 'All of the files are stored.', schema: success }
const begun = {
  description:
    'With `Tus-Resumable`: a resumable upload has begun, and the answer has no body. Send the bytes to `Location`. ' +
    'With `parts`: an upload in parts has begun. The answer is its `UploadState`. Request further addresses at `Location`.',
  // Generated clients would try to read a document from the empty answer to a tus request.
  mediaTypes: ['application/octet-stream', '*/*'],
  example: '{"size":104857600,"inParts":true,"complete":false,"stored":[],"addresses":[]}',
  headers: ['Location'],
  optionalHeaders: ['Tus-Resumable', 'Upload-Offset', 'Upload-Expires'],
} as const

const offsetHeaders = ['Upload-Offset', 'Tus-Resumable'] as const
const completionErrors: readonly ErrorName[] = ['protocolVersionUnknown', 'uploadUnknown', ...placementErrors]

export const uploadOperations = {
  uploadToFolder: {
    ...upload,
    summary: 'Upload files into a folder, or restore removed files',
    description:
      `${upload.description} With \`restore\`, the request uploads nothing and restores the removed file or ` +
      'folder at the path. `{"version": …}` restores one of the `versions` of a file. An existing file is ' +
      'replaced only with `{"replace": true}`. A folder is restored with everything that its last removal ' +
      'removed, up to 10,000 files and folders.',
    query: {
      ...upload.query,
      restore: flag('Restores the removed file or folder. The body is `{}`, or contains the version.'),
    },
    body: { ...upload.body, mediaTypes: { ...upload.body.mediaTypes, '*/*': restorationOrParts } },
    answers: { 200: { ...stored, links: pathLinks }, 201: begun },
    errors: [...upload.errors, 'fileUnknown', 'folderReserved'],
    examples: [...upload.examples, { path: { path: 'archive/removed.txt' }, query: { restore: '' }, body: {} }],
  },
  uploadToRoot: {
    ...upload,
    summary: 'Upload files into the root of the storage',
    answers: { 200: stored, 201: begun },
  },
  putPath: {
    summary: 'Store a file, create a folder, rename, move or copy',
    pathExamples: { path: 'notes/draft.txt' },
    description:
      'The body is the content of the file, of any type, including JSON. With `meta`, `{"name": …}` renames, ' +
      '`{"path": …}` moves and `{"copyTo": …}` copies the live files, completely or not at all. With `type=folder` ' +
      'there is no body. A body of the type `multipart/form-data` is an upload into the folder.',
    query: {
      meta,
      ...switchesOf(putSwitches, {
        type: ['`folder` creates the folder.', 'folder'],
        version: [
          '`draft` stores the draft of a page. `draft-publish` stores the live file, as does a request without ' +
            '`version`. A form cannot have a `version`.',
          'draft-publish',
        ],
      }),
    },
    headers: { ...noneMatch, ...digests },
    body: {
      optional: true,
      schema: z.unknown(),
      mediaTypes: {
        'application/octet-stream': bytes,
        'application/json': z.xor([renamePath, movePath, copyPath]),
        ...formBodies,
        '*/*': bytes,
      },
    },
    answers: ok('The change is made.', success, { links: pathLinks }),
    errors: putErrors,
    examples: [
      { headers: { 'Content-Type': 'text/plain' }, body: 'Hello' },
      { query: { meta: '' }, body: { name: 'final.txt' } },
      { path: { path: 'notes/final.txt' }, query: { meta: '' }, body: { copyTo: '/notes/2026/copy.txt' } },
      { path: { path: 'notes/2026/copy.txt' }, query: { meta: '' }, body: { path: '/notes/moved.txt' } },
      { path: { path: 'notes' }, ...exampleForm },
    ],
  },
  // The root always exists as a folder, so a PUT to it can only upload.
  putRoot: {
    summary: 'Upload files into the root of the storage, by PUT',
    headers: noneMatch,
    body: { schema: z.unknown(), mediaTypes: formBodies },
    answers: { 200: stored },
    errors: putErrors,
    examples: [exampleForm],
  },
  describeUpload: {
    summary: 'Show the progress of a resumable upload',
    description:
      'The upload is complete when `Upload-Offset` equals `Upload-Length`. If a temporary fault prevented ' +
      'the service from storing the complete file, the service tries again before it answers.',
    headers: inTus,
    answers: ok('The progress of the upload.', undefined, {
      headers: [...offsetHeaders, 'Cache-Control'],
      optionalHeaders: ['Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata', 'Upload-Expires'],
    }),
    errors: completionErrors,
    examples: [{ headers: tus }],
  },
  readUpload: {
    summary: 'Show an upload, or request addresses of its parts',
    description:
      'Each part has 8 MiB (8,388,608 bytes), but the last one may be smaller. Send up to 64 `digests` to get ' +
      'an address for each part from `first` on. The bucket refuses bytes that do not match their digest. ' +
      'When all parts are stored, an empty PATCH without `Tus-Resumable` completes the upload.',
    query: switchesOf(partsQuery, {
      first: ['The number of the first part.', 1],
      digests: [
        'The SHA-256 of each part, in hexadecimal digits, separated by commas.',
        '185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969',
        z.string(),
      ],
    }),
    answers: ok('The state of the upload.', uploadState),
    errors: [...completionErrors, 'storageRefused'],
  },
  appendToUpload: {
    summary: 'Continue a resumable upload, or complete an upload in parts',
    description:
      'A request without `Tus-Resumable` has no body and completes an upload whose parts are all stored. ' +
      'With `Tus-Resumable`, the request appends its bytes. All bytes before the `Upload-Offset` of an ' +
      'answer are durable. After the last byte, the service checks and stores the file like every other upload. If it ' +
      'refuses the file, the upload ends.',
    headers: {
      ...orInTus,
      'Upload-Offset': text('The position of the first byte of the body in the upload.', '0'),
      ...uploadLength,
      ...uploadChecksum,
    },
    // A request without bytes completes an upload whose file could not be placed before.
    body: { schema: bytes, mediaTypes: { 'application/offset+octet-stream': bytes }, optional: true },
    answers: {
      204: { description: 'The bytes are stored.', headers: offsetHeaders, optionalHeaders: ['Upload-Expires'] },
    },
    errors: [...completionErrors, 'storageRefused', ...tusErrors, 'offsetMismatch', 'uploadLocked'],
    examples: [
      { headers: { ...tus, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' }, body: 'Hello ' },
    ],
  },
  cancelUpload: {
    summary: 'Cancel an upload',
    description: 'The stored bytes of the upload are removed. If the file is already stored, it stays.',
    headers: orInTus,
    answers: { 204: { description: 'The upload has ended.', headers: ['Tus-Resumable'] } },
    errors: ['protocolVersionUnknown', 'uploadUnknown'],
    examples: [{ headers: tus }],
  },
} as const satisfies Partial<GroupContract<'storage'>['operations']>
