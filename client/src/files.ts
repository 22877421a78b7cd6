import type { Connection } from './connection.ts'
import type {
  Deleted,
  DeletedPage,
  DownloadLink,
  Entry,
  FolderContent,
  Progress,
  RemovalPreview,
  Version,
  VersionPage,
} from './generated/types.gen.ts'
import { paginate } from './pages.ts'
import { encode, hasExactSpelling, partsOf, pathOf } from './paths.ts'
import { answerOf, hasStatus, isList, ServiceError } from './service-error.ts'
import { type Content, largestRequest, partLength, type Source, sourceOf } from './source.ts'
import type { Call, Send } from './transport.ts'
import type { Limit, ResumableOptions } from './upload.ts'

export interface ListedFile extends FolderContent {
  readonly path: string
  readonly etag: string
  readonly fingerprint: string | null
}

export interface PutOptions extends ResumableOptions {
  /**
   * Left out: the file must not exist. An `etag`: only this state is replaced. `true`: any state is replaced. Error:
   * 412 / 100412.
   */
  readonly replace?: string | boolean
  readonly contentType?: string
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

/**
 * The change applies only to the state with this tag. The default is the state at the start of the call. Folders have
 * no tag.
 */
export interface FileCondition {
  readonly etag?: string
}

/** Paths are not encoded: `news/2026 (draft).html`. The root is an empty path. */
export interface Files {
  list(folder?: string): AsyncIterable<FolderContent>
  /** Every file below a folder, sorted by path. */
  listAll(folder?: string, signal?: AbortSignal): AsyncIterable<ListedFile>
  stat(path: string): Promise<Omit<Entry, 'contents' | 'cursor'>>
  read(path: string, options?: ReadOptions): Promise<Response>
  /** A URL that needs no token, for five minutes. */
  link(path: string): Promise<DownloadLink>
  /**
   * Sends up to 4.5 MB in one request, and larger content in resumable pieces, or in parts to the bucket of the service.
   * Creates missing folders.
   */
  put(path: string, content: Content, options?: PutOptions): Promise<void>
  cancel(upload: string): Promise<void>
  /** The progress of the token's newest upload, in percent. */
  progress(): Promise<number>
  createFolder(path: string): Promise<void>
  /** Moves or renames a file or folder. 104022 if the new path is taken. */
  move(from: string, to: string, condition?: FileCondition): Promise<void>
  copy(from: string, to: string, condition?: FileCondition): Promise<void>
  removal(path: string): Promise<RemovalPreview>
  /**
   * Removes a file, or a folder with everything in it. Large folders finish after the call. With `force: false`, only
   * an empty folder (403 / 104024).
   */
  remove(path: string, condition?: FileCondition & { readonly force?: boolean }): Promise<void>
  removeDraft(path: string): Promise<void>
  /** Restores a removed file or folder, or a `version` of a file. `replace` overwrites an existing file. */
  restore(path: string, options?: { readonly version?: string; readonly replace?: boolean }): Promise<void>
  /**
   * Deletes the old versions of a file for good, or only the version `version`. The file itself stays. 412 if the file
   * changes meanwhile. On AWS, a version can be purged a minute after it became an old one, and the call waits for this
   * minute.
   */
  purge(path: string, options?: { readonly version?: string | undefined }): Promise<void>
  /** The kept versions of a file, newest first. */
  versions(path: string): AsyncIterable<Version>
  deleted(folder?: string): AsyncIterable<Deleted>
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

type Condition = Readonly<Record<string, string>>
type StatOf = (path: string) => Promise<Entry | undefined>

// If the file is missing, a conditional change fails with 412 for any tag.
const isGone = async (statOf: StatOf, path: string, error: unknown): Promise<boolean> =>
  hasStatus(error, 404) || (hasStatus(error, 412) && (await statOf(path)) === undefined)

const conditionOf = async (statOf: StatOf, path: string, replace: string | boolean): Promise<Condition> => {
  if (typeof replace === 'string') return { 'If-Match': replace }
  const entry = replace ? await statOf(path) : undefined
  return entry?.etag === undefined || !hasExactSpelling(path, entry)
    ? { 'If-None-Match': '*' }
    : { 'If-Match': entry.etag }
}

const conditionOn = async (stat: Files['stat'], path: string, etag: string | undefined): Promise<Condition> => {
  if (etag !== undefined) return { 'If-Match': etag }
  const entry = await stat(path)
  if (!hasExactSpelling(path, entry))
    throw new ServiceError({
      status: 404,
      code: 104001,
      message: `This site has no "${path}", but "${pathOf(entry)}". Use that spelling.`,
    })
  return entry.etag === undefined ? {} : { 'If-Match': entry.etag }
}

const hasContent = async (send: Send, url: string, bytes: Blob): Promise<boolean> => {
  const response = await send({ method: 'GET', url, repeatable: true })
  const [now, wanted] = [new Uint8Array(await response.arrayBuffer()), new Uint8Array(await bytes.arrayBuffer())]
  return now.length === wanted.length && now.every((byte, index) => byte === wanted[index])
}

/** If an earlier attempt made the change and its answer was lost, the failure of a repetition counts as success. */
const sendChange = async (
  send: Send,
  call: Omit<Call, 'onUncertain'>,
  isApplied: (error: unknown) => Promise<boolean>,
): Promise<void> => {
  let isUncertain = false
  const onUncertain = () => {
    isUncertain = true
  }
  try {
    await send({ ...call, onUncertain })
  } catch (error) {
    if (!(isUncertain && (await isApplied(error)))) throw error
  }
}

const alreadyExists = (path: string, replace: boolean, error: ServiceError): ServiceError =>
  new ServiceError(
    {
      ...error,
      message: replace
        ? `"${path}" is a folder, or someone has just stored it. Read the path, then decide.`
        : `"${path}" already exists. Pass replace: true to replace it, or its etag to replace only that state.`,
    },
    { cause: error },
  )

const putWhole = async (
  send: Send,
  url: string,
  source: Source,
  condition: Condition,
  { contentType, signal }: PutOptions,
) => {
  const body = await source.slice(0, source.size)
  const headers = { 'Content-Type': contentType ?? 'application/octet-stream', ...condition }
  const call = { method: 'PUT', url, headers, body, signal, repeatable: true }
  await sendChange(send, call, async (error) => hasStatus(error, 412) && hasContent(send, url, new Blob([body])))
}

type Writing = 'put' | 'cancel' | 'createFolder' | 'move' | 'copy' | 'remove' | 'removeDraft' | 'restore' | 'purge'

const createWriting = (
  send: Send,
  root: string,
  urlOf: (path: string, query?: Query) => string,
  stat: Files['stat'],
  statOf: StatOf,
): Pick<Files, Writing> => {
  const limit: Limit = { piece: Number.POSITIVE_INFINITY }

  /** Conditional. If a repetition finds no source, the earlier attempt has moved it. */
  const relocate = async (from: string, to: string, member: 'path' | 'copyTo', etag: string | undefined) => {
    const condition = await conditionOn(stat, from, etag)
    const call = {
      method: 'PUT',
      url: urlOf(from, { meta: '' }),
      headers: { 'Content-Type': 'application/json', ...condition },
      body: JSON.stringify({ [member]: partsOf(to).join('/') }),
      repeatable: member === 'path' && 'If-Match' in condition,
    }
    await sendChange(
      send,
      call,
      async (error) => (await isGone(statOf, from, error)) && (await statOf(to)) !== undefined,
    )
  }

  const store = async (path: string, source: Source, condition: Condition, options: PutOptions): Promise<void> => {
    const { onProgress, contentType } = options
    if (source.size <= largestRequest) {
      onProgress?.({ sent: 0, total: source.size })
      await putWhole(send, urlOf(path), source, condition, options)
      onProgress?.({ sent: source.size, total: source.size })
      return
    }
    const parts = partsOf(path)
    const name = parts.pop() ?? ''
    const destination = { folder: urlOf(parts.join('/')), name, contentType, condition, uploads: `${root}/uploads/` }
    // Only large files need these modules, so pages load them on demand.
    if (source.size > partLength && !limit.hasNoParts) {
      const { uploadInParts } = await import('./upload-parts.ts')
      if (await uploadInParts(send, source, destination, options, limit)) return
    }
    const { uploadResumably } = await import('./upload.ts')
    await uploadResumably(send, source, destination, options, limit)
  }

  return {
    async put(path, content, options = {}) {
      const { replace = false, signal } = options
      signal?.throwIfAborted()
      const source = sourceOf(content)
      const condition = await conditionOf(statOf, path, replace)
      try {
        await store(path, source, condition, options)
      } catch (error) {
        if (!('If-None-Match' in condition && hasStatus(error, 412))) throw error
        throw alreadyExists(path, replace !== false, error)
      }
    },
    cancel: async (upload) => (await import('./upload.ts')).cancelUpload(send, upload),
    async createFolder(path) {
      await send({ method: 'PUT', url: urlOf(path, { type: 'folder' }), repeatable: true })
    },
    move: (from, to, { etag } = {}) => relocate(from, to, 'path', etag),
    copy: (from, to, { etag } = {}) => relocate(from, to, 'copyTo', etag),
    async remove(path, { etag, force } = {}) {
      const url = urlOf(path, { force: force === false ? 'false' : undefined })
      const headers = await conditionOn(stat, path, etag)
      const call = { method: 'DELETE', url, headers, repeatable: 'If-Match' in headers }
      await sendChange(send, call, (error) => isGone(statOf, path, error))
    },
    async removeDraft(path) {
      await send({ method: 'DELETE', url: urlOf(path, { version: 'draft' }), repeatable: true })
    },
    async restore(path, options = {}) {
      const headers = { 'Content-Type': 'application/json' }
      const url = urlOf(path, { restore: '' })
      await send({ method: 'POST', url, headers, body: JSON.stringify(options), repeatable: false })
    },
    async purge(path, { version } = {}) {
      const url = urlOf(path, version === undefined ? { versions: '' } : { versionId: version })
      const entry = await statOf(path)
      // A repetition must not purge versions of a file that was replaced meanwhile.
      const headers: Condition = entry ? (entry.etag ? { 'If-Match': entry.etag } : {}) : { 'If-None-Match': '*' }
      await sendChange(send, { method: 'DELETE', url, headers, repeatable: true }, async (error) =>
        hasStatus(error, 404),
      )
    },
  }
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
  const contents = (folder: string, query: Query, signal?: AbortSignal) =>
    paginate(async (cursor) => {
      const page = await get<Entry>(isEntry, folder, { meta: '', ...query, cursor }, signal)
      return { items: page.contents ?? [], next: page.cursor }
    })
  const stat = (path: string) => get<Entry>(isEntry, path, { meta: '', limit: '1' })

  const statOf = async (path: string): Promise<Entry | undefined> => {
    try {
      return await stat(path)
    } catch (error) {
      if (hasStatus(error, 404)) return undefined
      throw error
    }
  }

  return {
    ...createWriting(send, root, urlOf, stat, statOf),
    list: (folder = '') => contents(folder, {}),
    listAll: async function* (folder = '', signal) {
      for await (const file of contents(folder, { recursive: 'true' }, signal)) yield asListed(file)
    },
    stat,
    read: (path, { range, version, draft, etag, signal } = {}) =>
      send({
        method: 'GET',
        url: urlOf(path, { versionId: version, version: draft ? 'draft' : undefined }),
        headers: {
          ...(range && { Range: `bytes=${range.first}-${range.last ?? ''}` }),
          ...(etag !== undefined && { 'If-Match': etag }),
        },
        signal,
        repeatable: true,
        streams: true,
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
  }
}
