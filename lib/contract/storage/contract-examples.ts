import type { ExampleRequest } from '../contract.ts'
import type { OperationOf } from '../routes/routes.ts'

/** The files that the example requests of this group need; tools/openapi/example-service.ts stores them. */
export const exampleFiles = {
  file: 'hello.txt',
  folder: 'press',
  pageInWorkflow: 'press/release.html',
  /** Its removal has begun. */
  folderToGo: 'archive/2025',
  removedFile: 'archive/removed.txt',
} as const

const { file, folder, folderToGo, removedFile } = exampleFiles

export const exampleUpload = { id: '5f0c8a529d1e4b7a8c650e2d9f417ab3', path: 'large.txt' } as const

const tus = { 'Tus-Resumable': '1.0.0' }

const resumable = { headers: { ...tus, 'Upload-Length': '11', 'Upload-Metadata': 'filename bGFyZ2UudHh0' } }

const boundary = 'a-boundary'
const part = 'Content-Disposition: form-data; name="file"; filename="hello.txt"\r\n\r\nHello'
const upload = {
  headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  body: `--${boundary}\r\n${part}\r\n--${boundary}--\r\n`,
  shown: { file: ['Hello'] },
}

const uploadAsBytes = { headers: { 'Content-Type': 'application/octet-stream' }, body: upload.body }

const openUpload = { path: { upload: exampleUpload.id } }

/** The requests whose answers the document shows, for each operation. */
export const examplesOf = {
  uploadToFolder: [upload, uploadAsBytes, resumable, { path: { path: removedFile }, query: { restore: '' }, body: {} }],
  uploadToRoot: [upload, uploadAsBytes, resumable],
  readRoot: [
    { query: { status: '' } },
    { query: { deleted: '' } },
    { query: { removal: '' } },
    { query: { meta: '', limit: 'all' } },
  ],
  readPath: [
    { path: { path: folder }, query: { meta: '' } },
    { path: { path: folder }, query: { meta: '', recursive: 'true' } },
    { path: { path: file }, query: { meta: '' } },
    { path: { path: file }, query: { link: '' } },
    { path: { path: file }, query: { versions: '' } },
    { path: { path: folder }, query: { removal: '' } },
    { path: { path: file } },
    { path: { path: file }, headers: { Range: 'bytes=0-4' } },
  ],
  deletePath: [{ path: { path: 'notes' }, query: { force: 'true' } }, { path: { path: folderToGo } }],
  deleteRoot: [],
  putPath: [
    { path: { path: 'notes/draft.txt' }, headers: { 'Content-Type': 'text/plain' }, body: 'Hello' },
    { path: { path: 'notes/draft.txt' }, query: { meta: '' }, body: { name: 'final.txt' } },
    { path: { path: 'notes/final.txt' }, query: { meta: '' }, body: { copyTo: '/notes/2026/copy.txt' } },
    { path: { path: 'notes/2026/copy.txt' }, query: { meta: '' }, body: { path: '/notes/moved.txt' } },
    { path: { path: 'notes' }, ...upload },
  ],
  putRoot: [upload],
  describeUpload: [{ ...openUpload, headers: tus }],
  appendToUpload: [
    {
      ...openUpload,
      headers: { ...tus, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' },
      body: 'Hello ',
    },
  ],
  cancelUpload: [{ ...openUpload, headers: tus }],
  listChanges: [{ query: { after: '', limit: '2' } }],
} as const satisfies Readonly<Record<OperationOf<'storage'>, readonly ExampleRequest[]>>
