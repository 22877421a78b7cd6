import type { Connection } from './connection.ts'
import { createFileChanges, type FileChanges } from './file-changes.ts'
import type {
  Deleted,
  DeletedPage,
  DownloadLink,
  Entry,
  FolderContent,
  FoundItem,
  Progress,
  RemovalPreview,
  SearchPage,
  TrashItem,
  TrashPage,
  Version,
  VersionPage,
} from './generated/types.gen.ts'
import { paginate } from './pages.ts'
import { encode, pathOf } from './paths.ts'
import { answerOf, isList, refusal } from './service-error.ts'

export interface ListedFile extends FolderContent {
  readonly path: string
  readonly etag: string
  readonly fingerprint: string | null
}

export interface ReadOptions {
  /** Positions of bytes. The byte at `last` is included. */
  readonly range?: { readonly first: number; readonly last?: number }
  readonly version?: string | undefined
  /** Reads the draft of a page, or the live page if there is no draft. */
  readonly draft?: boolean | undefined
  readonly etag?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Paths are not encoded: `news/2026 (draft).html`. The root is an empty path. */
export interface Files extends FileChanges {
  /** `onFolder` receives the path of the folder in the spelling of the site, because reads ignore case. */
  list(folder?: string, onFolder?: (path: string) => void): AsyncIterable<FolderContent>
  /** Lists every file below a folder, sorted by path. */
  listAll(folder?: string, signal?: AbortSignal): AsyncIterable<ListedFile>
  stat(path: string): Promise<Omit<Entry, 'contents' | 'cursor'>>
  read(path: string, options?: ReadOptions): Promise<Response>
  /** Returns a URL that needs no token and works for five minutes. */
  link(path: string): Promise<DownloadLink>
  /** Returns the progress of the token's newest upload, in percent. */
  progress(): Promise<number>
  removal(path: string): Promise<RemovalPreview>
  /** Lists the kept versions of a file, the newest first. */
  versions(path: string): AsyncIterable<Version>
  deleted(folder?: string): AsyncIterable<Deleted>
  /** Lists the removed files and folders at any depth below a folder, the latest removal first. */
  trash(folder?: string): AsyncIterable<TrashItem>
  /** Finds the files and folders below a folder whose names contain the text. The case does not matter. */
  search(folder: string, text: string, signal?: AbortSignal): AsyncIterable<FoundItem>
}

type Query = Readonly<Record<string, string | undefined>>

const asListed = ({ path, etag, ...file }: FolderContent): ListedFile => ({
  ...file,
  path: path ?? file.name,
  etag: etag ?? '*',
  fingerprint: file.fingerprint ?? null,
})

const isEntry = (each: Partial<Entry & FolderContent>): boolean =>
  isList(each?.links, (link) => link && (link.uri === null || URL.canParse(link.uri))) &&
  typeof (each.path ?? each.name) === 'string' &&
  isList(each.contents ?? [], isEntry)

const rangeHeader = ({ first, last }: NonNullable<ReadOptions['range']>): { readonly Range: string } => {
  const range = `bytes=${first}-${last ?? ''}`
  // The service ignores a malformed range, and would return the whole file.
  if (!/^bytes=\d+-\d*$/.test(range) || (last ?? first) < first)
    throw refusal(416, 100416, `The range ${range} is malformed. Its first and last byte are whole numbers in order.`)
  return { Range: range }
}

export const createFiles = ({ site, send }: Connection): Files => {
  const root = `${site.url}/api/v2/admin/sites/${site.id}`
  const urlOf = (path: string, query: Query = {}): string => {
    const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
    const search = new URLSearchParams(given).toString()
    return `${root}/storage${encode(path)}${search && `?${search}`}`
  }
  const { host } = new URL(root)
  const get = async <Answer extends object>(
    isRight: (answer: Partial<Answer>) => unknown,
    path: string,
    query: Query,
    signal?: AbortSignal,
  ): Promise<Answer> =>
    answerOf(isRight, await send({ method: 'GET', url: urlOf(path, query), signal, repeatable: true }), host)
  const contents = (folder: string, query: Query, signal?: AbortSignal, onFolder?: (path: string) => void) =>
    paginate(async (cursor) => {
      const page = await get<Entry>(isEntry, folder, { meta: '', ...query, cursor }, signal)
      if (page.type === 'file') throw refusal(400, 104000, `"${folder}" is a file. Name a folder.`)
      onFolder?.(pathOf(page) ?? folder)
      return { items: page.contents ?? [], next: page.cursor }
    })
  const stat = (path: string, signal?: AbortSignal) => get<Entry>(isEntry, path, { meta: '', limit: '1' }, signal)

  return {
    ...createFileChanges(send, root, urlOf, stat),
    list: (folder = '', onFolder) => contents(folder, {}, undefined, onFolder),
    listAll: async function* (folder = '', signal) {
      for await (const file of contents(folder, { recursive: 'true' }, signal)) yield asListed(file)
    },
    stat: (path) => stat(path),
    read: async (path, { range, version, draft, etag, signal } = {}) =>
      send({
        method: 'GET',
        url: urlOf(path, { versionId: version, version: draft ? 'draft' : undefined }),
        headers: {
          ...(range && rangeHeader(range)),
          ...(etag !== undefined && { 'If-Match': etag }),
        },
        signal,
        repeatable: true,
        streams: () => true,
      }),
    link: (path) => get(({ url }) => url, path, { link: '' }),
    async progress() {
      const { percent } = await get<Progress>((answer) => typeof answer.percent === 'number', '', { status: '' })
      return percent
    },
    removal: (path) => get(({ files }) => files !== undefined, path, { removal: '' }),
    versions: (path) =>
      paginate(async (cursor) => {
        const page = await get<VersionPage>(({ versions }) => isList(versions, (each) => each?.at), path, {
          versions: '',
          cursor,
        })
        return { items: page.versions, next: page.cursor }
      }),
    deleted: (folder = '') =>
      paginate(async (cursor) => {
        const page = await get<DeletedPage>(({ deleted }) => isList(deleted), folder, { deleted: '', cursor })
        return { items: page.deleted, next: page.cursor }
      }),
    trash: (folder = '') =>
      paginate(async (cursor) => {
        const page = await get<TrashPage>(({ deleted }) => isList(deleted, (each) => each?.path), folder, {
          deleted: 'all',
          cursor,
        })
        return { items: page.deleted, next: page.nextCursor }
      }),
    search: (folder, text, signal) =>
      paginate(async (cursor) => {
        const query = { search: text, cursor }
        const page = await get<SearchPage>(({ items }) => isList(items, (each) => each?.path), folder, query, signal)
        return { items: page.items, next: page.nextCursor }
      }),
  }
}
