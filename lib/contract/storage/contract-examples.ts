import type { OperationContract, Provoked } from '../contract.ts'
import type { OperationOf } from '../routes/routes.ts'

/** What the example requests of this group find; tools/openapi/example-service.ts prepares it. */
export const exampleFiles = {
  file: 'hello.txt',
  folder: 'press',
  pageInWorkflow: 'press/release.html',
  /** A folder whose removal goes on. */
  goingFolder: 'archive/2024',
  /** Another one, whose removal is asked for again. */
  folderToGo: 'archive/2025',
  /** One that was removed. */
  removedFile: 'archive/removed.txt',
} as const

const { file, folder, pageInWorkflow, goingFolder, folderToGo, removedFile } = exampleFiles

/** Uploads that are open, each with the name of its file. */
export const exampleUploads = {
  '5f0c8a529d1e4b7a8c650e2d9f417ab3': 'large.txt',
  '6f0c8a529d1e4b7a8c650e2d9f417ab3': 'larger.txt',
} as const

const [openUpload, otherUpload] = ['5f0c8a529d1e4b7a8c650e2d9f417ab3', '6f0c8a529d1e4b7a8c650e2d9f417ab3']

const tus = { 'Tus-Resumable': '1.0.0' }
const piece = { ...tus, 'Content-Type': 'application/offset+octet-stream' }
const behind = { 'Upload-Offset': '6' }

/** Begins a resumable upload. */
const beginning = {
  headers: { ...tus, 'Upload-Length': '11', 'Upload-Metadata': 'filename bGFyZ2UudHh0' },
}

const boundary = 'a-boundary'

interface ExamplePart {
  /** Undefined where the part does not say that it is a file. */
  readonly name: string | undefined
  readonly content: string
  readonly type?: string
}

const partOf = ({ name, content, type }: ExamplePart) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="file"${name === undefined ? '' : `; filename="${name}"`}\r\n${type ? `Content-Type: ${type}\r\n` : ''}\r\n${content}\r\n`

/** A body with these files in it. */
const uploadOf = (...parts: readonly ExamplePart[]) => ({
  headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  body: `${parts.map(partOf).join('')}--${boundary}--\r\n`,
  shown: { file: parts.map(({ content }) => content) },
})

const hello = { name: 'hello.txt', content: 'Hello' }
const upload = uploadOf(hello)

/** The same upload under the media type that the contract names. */
const uploadAsBytes = { headers: { 'Content-Type': 'application/octet-stream' }, body: upload.body }

const asText = { headers: { 'Content-Type': 'text/plain' }, body: 'Hello' }

const template = (content: string) => ({ path: { path: 'Templates' }, ...uploadOf({ name: 'main.html', content }) })
const region = (attributes: string, content: string) =>
  `<!-- TemplateBeginEditable${attributes} -->${content}<!-- TemplateEndEditable -->`

/** Brings back what was removed. */
const restoring = { query: { restore: '' }, body: {} }

/** A body that is not what its type says. */
const malformed: Provoked = { storageRefused: { ...uploadOf(), body: 'Hello' } }

/** The tag of a state that no file is in. */
const stale = { 'If-Match': '"an-etag-of-before"' }

const uploadsRefused: Provoked = {
  conditionFailed: { ...upload, headers: { ...upload.headers, ...stale } },
  ...malformed,
  notAFile: uploadOf({ name: undefined, content: 'Hello' }),
  nameRequired: uploadOf({ name: '', content: '', type: 'application/octet-stream' }),
  regionNameInvalid: template(region('', '{tag_pagecontent}')),
  tagOutsideRegions: template(`${region(' name="main"', '')}{tag_pagecontent}`),
  tagMissing: template('<html></html>'),
  nameTaken: uploadOf({ name: 'a.txt', content: 'One' }, { name: 'a.txt', content: 'Two' }),
  folderUnknown: { path: { path: file }, ...uploadOf({ name: 'a.txt', content: 'One' }) },
}

/** A resumable upload that cannot be. */
const tusRefused: Provoked = {
  protocolVersionUnknown: { headers: { ...beginning.headers, 'Tus-Resumable': '0.2.2' } },
  uploadTooLarge: { headers: { ...beginning.headers, 'Upload-Length': String(1024 ** 4) } },
}

const badForce = { query: { force: 'maybe' } }
const badLimit = { query: { meta: '', limit: 'all' } }

/** The requests that the document shows of each operation, and those that provoke its errors. */
export const examplesOf = {
  uploadToFolder: {
    examples: [upload, uploadAsBytes, beginning, { path: { path: removedFile }, ...restoring }],
    provoked: {
      ...uploadsRefused,
      ...tusRefused,
      fileUnknown: { path: { path: 'missing.txt' }, ...restoring },
      folderReserved: { path: { path: 'Templates' }, ...restoring },
    },
  },
  uploadToRoot: { examples: [upload, uploadAsBytes, beginning], provoked: malformed },
  readRoot: {
    examples: [{ query: { status: '' } }, { query: { deleted: '' } }, { query: { removal: '' } }],
    provoked: { storageRefused: badLimit, notAFile: {} },
  },
  readPath: {
    examples: [
      { path: { path: folder }, query: { meta: '' } },
      { path: { path: folder }, query: { meta: '', recursive: 'true' } },
      { path: { path: file }, query: { meta: '' } },
      { path: { path: file }, query: { link: '' } },
      { path: { path: file }, query: { versions: '' } },
      { path: { path: folder }, query: { removal: '' } },
      { path: { path: file } },
      { path: { path: file }, headers: { Range: 'bytes=0-4' } },
    ],
    provoked: {
      conditionFailed: { path: { path: file }, headers: stale },
      storageRefused: { path: { path: folder }, ...badLimit },
      fileUnknown: { path: { path: 'missing.txt' } },
      notAFile: { path: { path: folder } },
      urlInvalid: { path: { path: `${folder}/./${file}` } },
      nameTooLong: { path: { path: 'x'.repeat(256) } },
      rangeNotSatisfiable: { path: { path: file }, headers: { Range: 'bytes=100-' } },
    },
  },
  deletePath: {
    examples: [{ path: { path: 'notes' }, query: { force: 'true' } }, { path: { path: folderToGo } }],
    provoked: {
      conditionFailed: { path: { path: file }, headers: stale },
      storageRefused: badForce,
      workflowDeleted: { path: { path: pageInWorkflow } },
      folderReserved: { path: { path: 'Templates' } },
      folderNotEmpty: { path: { path: folder }, query: { force: 'false' } },
    },
  },
  deleteRoot: { examples: [], provoked: { storageRefused: badForce, nameRequired: {} } },
  putPath: {
    examples: [
      { path: { path: 'notes/draft.txt' }, ...asText },
      { path: { path: 'notes/draft.txt' }, query: { meta: '' }, body: { name: 'final.txt' } },
      { path: { path: 'notes/final.txt' }, query: { meta: '' }, body: { copyTo: '/notes/2026/copy.txt' } },
      { path: { path: 'notes/2026/copy.txt' }, query: { meta: '' }, body: { path: '/notes/moved.txt' } },
      { path: { path: 'notes' }, ...upload },
    ],
    provoked: {
      conditionFailed: { path: { path: file }, ...asText, headers: { ...asText.headers, ...stale } },
      checksumMismatch: {
        path: { path: file },
        ...asText,
        headers: { ...asText.headers, 'Content-MD5': 'AAAAAAAAAAAAAAAAAAAAAA==' },
      },
      storageRefused: { query: { version: 'final' }, ...asText },
      fileTooLarge: { headers: { 'Content-Length': String(1024 ** 4), Expect: '100-continue' } },
      pathUnknown: { path: { path: `${file}/below.txt` }, ...asText },
      folderGoing: { path: { path: `${goingFolder}/new.txt` }, ...asText },
      workflowUpdated: { path: { path: pageInWorkflow }, ...asText },
      destinationExists: { path: { path: folder }, ...asText },
    },
  },
  putRoot: { examples: [upload], provoked: malformed },
  describeUpload: { examples: [{ path: { upload: openUpload }, headers: tus }] },
  appendToUpload: {
    examples: [{ path: { upload: openUpload }, headers: { ...piece, 'Upload-Offset': '0' }, body: 'Hello ' }],
    provoked: {
      protocolVersionUnknown: { path: { upload: otherUpload }, headers: { ...piece, 'Tus-Resumable': '0.2.2' } },
      storageRefused: { path: { upload: otherUpload }, headers: piece, body: 'Hello' },
      checksumMismatch: {
        path: { upload: otherUpload },
        headers: { ...piece, 'Upload-Offset': '0', 'Upload-Checksum': 'crc32 AAAAAA==' },
        body: 'Hello',
      },
      chunkMismatch: {
        path: { upload: otherUpload },
        headers: { ...piece, 'Upload-Offset': '0', 'Upload-Checksum': 'md5 AAAAAAAAAAAAAAAAAAAAAA==' },
        body: 'Hello',
      },
      mediaTypeUnsupported: { path: { upload: otherUpload }, headers: { ...asText.headers, ...tus }, body: 'Hello' },
      uploadTooLarge: {
        path: { upload: otherUpload },
        headers: { ...piece, 'Upload-Offset': '0' },
        body: 'Hello, hello',
      },
      offsetMismatch: { path: { upload: otherUpload }, headers: { ...piece, ...behind }, body: 'world' },
      uploadUnknown: { path: { upload: 'none' }, headers: { ...piece, ...behind }, body: 'world' },
    },
  },
  cancelUpload: { examples: [{ path: { upload: openUpload }, headers: tus }] },
  listChanges: {
    examples: [{ query: { after: '', limit: '2' } }],
    provoked: { storageRefused: { query: { limit: '501' } } },
  },
} as const satisfies Readonly<Record<OperationOf<'storage'>, Pick<OperationContract, 'examples' | 'provoked'>>>
