import { randomUUID } from 'node:crypto'
import type { OperationOf } from '../../../lib/contract/routes/routes.ts'
import type { Level } from '../../../lib/core/rights.ts'
import type { Answer } from '../../support/answer.ts'
import { formHeaders, multipart } from '../../support/multipart.ts'

export interface Question {
  readonly method: string
  /** The path below the site. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export type Ask = (question: Question) => Promise<Answer>

interface Cell {
  /** Requests with every right. */
  readonly ask: Ask
  /** A folder with `secret.txt`, which no other case uses. */
  readonly folder: string
}

export interface Act {
  readonly level: Level
  /** A path in the folder of the case. Default: `secret.txt`. */
  readonly target?: string
  /** True if the act changes the folder around the target. */
  readonly changesFolderAround?: true
  /** True if any right on some files is enough. */
  readonly needsNoPath?: true
  /** True if the act also works in the parents of the folders that the caller may use. */
  readonly showsWay?: true
  /** True if the other path of a move or copy is in `free`, where every caller may write. */
  readonly hasOtherEnd?: true
  /** True if only the user who began an upload may continue the upload. */
  readonly isOfUser?: true
  /** True if only a right on all files is enough. */
  readonly isOnRoot?: true
  /** The status for a caller with the right, if this status is no success. */
  readonly otherwise?: number
  /** The same status, where the store offers no addresses of parts. */
  readonly withoutParts?: number
  readonly prepare?: (cell: Cell) => Promise<unknown>
  /** `path` is the percent-encoded path of the target, and `plain` the path as it is in a body. */
  readonly question: (path: string, plain: string, prepared: never) => Question
}

const tus = { 'Tus-Resumable': '1.0.0' }
const json = { 'Content-Type': 'application/json' }
const named = (name: string) => `filename ${Buffer.from(name).toString('base64')}`
const remove = (path: string): Question => ({ method: 'DELETE', path: `/storage${path}` })
export const put = (path: string, query: Question['query'] = {}): Question => ({
  method: 'PUT',
  path: `/storage${path}`,
  query,
  body: 'top secret',
})
const read = (query: Question['query'] = {}): Act => ({
  level: 'read',
  question: (path) => ({ method: 'GET', path: `/storage${path}`, query }),
})
const readRoot = (query: Question['query'] = {}): Act => {
  const { level, question } = read(query)
  return { level, question: (_, plain, prepared) => question('', plain, prepared) }
}
const relocation = (path: string, body: object): Question => ({
  ...put(path, { meta: '' }),
  headers: json,
  body: JSON.stringify(body),
})
const restoration = (path: string, body: object = {}): Question => ({
  method: 'POST',
  path: `/storage${path}`,
  query: { restore: '' },
  headers: json,
  body: JSON.stringify(body),
})
const form = (path: string): Question => ({
  method: 'POST',
  path: `/storage${path}`,
  headers: formHeaders,
  body: multipart([{ name: 'new.txt' }]),
})
const creation = (path: string): Question => ({
  method: 'POST',
  path: `/storage${path}`,
  headers: { ...tus, 'Upload-Length': '4', 'Upload-Metadata': named('new.txt'), 'Content-Type': '' },
})
const beginning = (path: string): Question => ({
  method: 'POST',
  path: `/storage${path}`,
  query: { parts: '' },
  headers: json,
  body: JSON.stringify({ name: 'new.txt', size: 10_000_000 }),
})

/** Every caller in the table may write here, so that only the other path of a move or copy matters. */
export const free = 'free'
const inFree = () => `${free}/${randomUUID()}`

const fileInFree = async ({ ask }: Cell): Promise<string> => {
  const source = inFree()
  await ask(put(`/${source}`))
  return source
}
const folderIn = { target: 'in', prepare: ({ ask, folder }: Cell) => ask(put(`/${folder}/in/secret.txt`)) }
const removedFile = { prepare: ({ ask, folder }: Cell) => ask(remove(`/${folder}/secret.txt`)) }
const versionOf = async ({ ask, folder }: Cell): Promise<string> => {
  await ask(put(`/${folder}/secret.txt`))
  const { json } = await ask({ method: 'GET', path: `/storage/${folder}/secret.txt`, query: { versions: '' } })
  return json.versions[1].version
}
const openUpload = async ({ ask, folder }: Cell): Promise<string> => {
  const { headers } = await ask(creation(`/${folder}`))
  return headers['location']?.replace(/^.*(?=\/uploads\/)/, '') ?? ''
}
const ofUpload = (method: string, more: Pick<Question, 'headers' | 'body'> = {}): Act => ({
  level: 'write',
  target: 'new.txt',
  isOfUser: true,
  prepare: openUpload,
  question: (_, __, path: string) => ({ method, path, ...more, headers: { ...tus, ...more.headers } }),
})
const append = { 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' }

/** A move or copy of another file to the target. */
const toIt = { level: 'write', target: 'taken.txt', hasOtherEnd: true, prepare: fileInFree } as const

/** A change of the root, which even a caller with every right cannot make. */
const refusedToAll = { level: 'write', isOnRoot: true, otherwise: 400 } as const

/** The acts of each operation of the route table. A new operation does not compile without its acts. */
export const acts: Readonly<Record<OperationOf<'storage'>, Readonly<Record<string, Act>>>> = {
  uploadToFolder: {
    'with a form': { level: 'write', target: '', question: form },
    'with a form that repeats the name': { level: 'write', target: 'new.txt', question: form },
    'with tus': { level: 'write', target: '', question: creation },
    'with ?parts': { level: 'write', target: '', withoutParts: 400, question: beginning },
    'with ?restore of a file': { level: 'write', ...removedFile, question: (path) => restoration(path) },
    'with ?restore of a version': {
      level: 'write',
      prepare: versionOf,
      question: (path, _, version: string) => restoration(path, { version, replace: true }),
    },
    'with ?restore of a folder': {
      level: 'write',
      target: 'gone',
      prepare: async ({ ask, folder }) => {
        await ask(put(`/${folder}/gone/secret.txt`))
        await ask(remove(`/${folder}/gone`))
      },
      question: (path) => restoration(path),
    },
  },
  uploadToRoot: {
    'with a form': { level: 'write', isOnRoot: true, question: () => form('') },
    'with tus': { level: 'write', isOnRoot: true, question: () => creation('') },
    'with ?parts': { level: 'write', isOnRoot: true, withoutParts: 400, question: () => beginning('') },
    'with ?restore': { level: 'write', isOnRoot: true, otherwise: 400, question: () => restoration('') },
  },
  readRoot: {
    'of a file': { ...readRoot(), isOnRoot: true, otherwise: 400 },
    'with ?meta': { ...readRoot({ meta: '' }), needsNoPath: true },
    'with ?meta&recursive': { ...readRoot({ meta: '', recursive: 'true' }), needsNoPath: true },
    'with ?status': { ...readRoot({ status: '' }), needsNoPath: true },
    'with ?deleted': { ...readRoot({ deleted: '' }), isOnRoot: true },
    'with ?deleted=all': { ...readRoot({ deleted: 'all' }), needsNoPath: true },
    'with ?search': { ...readRoot({ search: 'secret' }), needsNoPath: true },
    'with ?removal': { ...readRoot({ removal: '' }), isOnRoot: true },
  },
  readPath: {
    'of the bytes': read(),
    'with HEAD': { level: 'read', question: (path) => ({ method: 'HEAD', path: `/storage${path}` }) },
    'of a draft': read({ version: 'draft' }),
    'with ?meta': { ...read({ meta: '' }), showsWay: true },
    'with ?meta of a folder': { ...read({ meta: '' }), showsWay: true, ...folderIn },
    'with ?meta&recursive': { ...read({ meta: '', recursive: 'true' }), showsWay: true, ...folderIn },
    'with ?link': read({ link: '' }),
    'with ?versions': read({ versions: '' }),
    'with ?versionId': {
      level: 'read',
      prepare: versionOf,
      question: (path, _, versionId: string) => ({ method: 'GET', path: `/storage${path}`, query: { versionId } }),
    },
    'with ?deleted': { ...read({ deleted: '' }), ...folderIn },
    'with ?deleted=all': { ...read({ deleted: 'all' }), showsWay: true, ...folderIn },
    'with ?search': { ...read({ search: 'secret' }), showsWay: true, ...folderIn },
    'with ?removal': read({ removal: '' }),
  },
  putPath: {
    'of a file': { level: 'write', question: (path) => put(path) },
    'of a draft': { level: 'write', target: 'page.html', question: (path) => put(path, { version: 'draft' }) },
    'of a form': { level: 'write', target: '', question: (path) => ({ ...form(path), method: 'PUT' }) },
    'of a folder': { level: 'write', target: 'made', question: (path) => put(path, { type: 'folder' }) },
    'with a new name': {
      level: 'write',
      changesFolderAround: true,
      question: (path) => relocation(path, { name: 'renamed.txt' }),
    },
    'that moves it away': {
      level: 'write',
      changesFolderAround: true,
      hasOtherEnd: true,
      question: (path) => relocation(path, { path: inFree() }),
    },
    'that copies it': { level: 'read', hasOtherEnd: true, question: (path) => relocation(path, { copyTo: inFree() }) },
    'that moves another file to it': {
      ...toIt,
      question: (_, plain, source: string) => relocation(`/${source}`, { path: plain }),
    },
    'that copies another file to it': {
      ...toIt,
      question: (_, plain, source: string) => relocation(`/${source}`, { copyTo: plain }),
    },
  },
  putRoot: {
    'of a file': { ...refusedToAll, question: () => put('') },
    'of a folder': { ...refusedToAll, question: () => put('', { type: 'folder' }) },
    'that moves it': { ...refusedToAll, question: () => relocation('', { path: inFree() }) },
  },
  deletePath: {
    'of a file': { level: 'write', changesFolderAround: true, question: remove },
    'of a draft': {
      level: 'write',
      target: 'page.html',
      changesFolderAround: true,
      prepare: ({ ask, folder }) => ask(put(`/${folder}/page.html`, { version: 'draft' })),
      question: (path) => ({ ...remove(path), query: { version: 'draft' } }),
    },
    'of a folder': { level: 'write', ...folderIn, changesFolderAround: true, question: remove },
    'of all old versions': { level: 'write', question: (path) => ({ ...remove(path), query: { versions: '' } }) },
    // On S3 a version must be older than a minute (H-35). So the act names a version that does not exist.
    'of an old version': {
      level: 'write',
      otherwise: 404,
      question: (path) => ({ ...remove(path), query: { versionId: 'none' } }),
    },
  },
  deleteRoot: { 'of everything': { ...refusedToAll, question: () => remove('') } },
  describeUpload: { 'of tus': ofUpload('HEAD') },
  readUpload: { 'of tus': ofUpload('GET') },
  appendToUpload: { 'of tus': ofUpload('PATCH', { headers: append, body: 'text' }) },
  cancelUpload: { 'of tus': ofUpload('DELETE') },
  // file-rights.suite.ts tests this operation on its own.
  listChanges: {},
}
