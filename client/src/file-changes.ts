import type { Entry } from './generated/types.gen.ts'
import { hasExactSpelling, partsOf, pathOf } from './paths.ts'
import { sendChange } from './send-change.ts'
import { hasStatus, ServiceError } from './service-error.ts'
import { type Content, largestRequest, type Source, sourceOf } from './source.ts'
import type { Send } from './transport.ts'
import type { Limit, ResumableOptions } from './upload.ts'

export interface PutOptions extends ResumableOptions {
  /**
   * By default, the file must not exist. With an `etag`, only this state is replaced. With `true`, any state is
   * replaced. Error: 412 / 100412.
   */
  readonly replace?: string | boolean
  readonly contentType?: string
  /** An earlier call may have stored the file. So for up to 4.5 MB, an existing file with this content is no error. */
  readonly mayBeStored?: boolean
}

/**
 * The change applies only to the state with this tag. The default is the state at the start of the call. Folders have
 * no tag.
 */
export interface FileCondition {
  readonly etag?: string
}

export interface FileChanges {
  /**
   * Sends up to 4.5 MB in one request, and larger content in resumable pieces, or in parts to the bucket of the service.
   * Creates missing folders.
   */
  put(path: string, content: Content, options?: PutOptions): Promise<void>
  cancel(upload: string): Promise<void>
  createFolder(path: string): Promise<void>
  /** Moves or renames a file or folder. 104022 if the new path is taken. */
  move(from: string, to: string, condition?: FileCondition): Promise<void>
  copy(from: string, to: string, condition?: FileCondition): Promise<void>
  /**
   * Removes a file, or a folder with everything in it. The service removes large folders after the call. With `force:
   * false`, removes a folder only if it is empty (403 / 104024).
   */
  remove(path: string, condition?: FileCondition & { readonly force?: boolean }): Promise<void>
  removeDraft(path: string): Promise<void>
  /** Restores a removed file or folder, or a `version` of a file. `replace` overwrites an existing file. */
  restore(path: string, options?: { readonly version?: string; readonly replace?: boolean }): Promise<void>
  /**
   * Deletes the old versions of a file for good, or only the version `version`. The file itself stays. 412 if the file
   * changes meanwhile. On AWS, a version can be purged a minute after it was replaced or removed, and the call waits
   * for this minute.
   */
  purge(path: string, options?: { readonly version?: string | undefined }): Promise<void>
}

type Condition = Readonly<Record<string, string>>
type Query = Readonly<Record<string, string | undefined>>
type Stat = (path: string, signal?: AbortSignal) => Promise<Entry>
type StatOf = (path: string, signal?: AbortSignal) => Promise<Entry | undefined>

// If the file is missing, a conditional change fails with 412 for any tag. Reads also find another spelling of its
// name, but changes do not.
const isGone = async (statOf: StatOf, path: string, error: unknown): Promise<boolean> => {
  if (!hasStatus(error, 412)) return hasStatus(error, 404)
  const entry = await statOf(path)
  return entry?.name !== partsOf(path).at(-1)?.normalize('NFC')
}

const conditionOf = async (
  statOf: StatOf,
  path: string,
  { replace = false, signal }: PutOptions,
): Promise<Condition> => {
  if (typeof replace === 'string') return { 'If-Match': replace }
  const entry = replace ? await statOf(path, signal) : undefined
  return entry?.etag === undefined || !hasExactSpelling(path, entry)
    ? { 'If-None-Match': '*' }
    : { 'If-Match': entry.etag }
}

const conditionOn = async (stat: Stat, path: string, etag: string | undefined): Promise<Condition> => {
  if (etag !== undefined) return { 'If-Match': etag }
  const entry = await stat(path)
  if (!hasExactSpelling(path, entry))
    throw new ServiceError({
      status: 404,
      code: 104001,
      message: `This site has no "${path}", but it has "${pathOf(entry)}". Use that spelling.`,
    })
  return entry.etag === undefined ? {} : { 'If-Match': entry.etag }
}

const hasContent = async (send: Send, url: string, bytes: Blob): Promise<boolean> => {
  const response = await send({ method: 'GET', url, repeatable: true })
  const [now, wanted] = [new Uint8Array(await response.arrayBuffer()), new Uint8Array(await bytes.arrayBuffer())]
  return now.length === wanted.length && now.every((byte, index) => byte === wanted[index])
}

const alreadyExists = (path: string, replace: boolean, error: ServiceError): ServiceError =>
  new ServiceError(
    {
      ...error,
      message: replace
        ? `"${path}" is a folder, or someone has just stored a file there. Read the path, then decide.`
        : `"${path}" already exists. Pass replace: true to replace it, or the etag of the file to replace only that state.`,
    },
    { cause: error },
  )

const putWhole = async (
  send: Send,
  url: string,
  source: Source,
  condition: Condition,
  sizeNow: () => Promise<number | undefined>,
  { contentType, signal, mayBeStored }: PutOptions,
) => {
  const body = await source.slice(0, source.size)
  // The service would read this body as a form (S-47).
  const type = contentType && !/^multipart\//i.test(contentType) ? contentType : 'application/octet-stream'
  const headers = { 'Content-Type': type, ...condition }
  const call = { method: 'PUT', url, headers, body, signal, repeatable: true }
  // The file there may be too large to read.
  const isStored = async (error: unknown) =>
    hasStatus(error, 412) && (await sizeNow()) === source.size && hasContent(send, url, new Blob([body]))
  await sendChange(send, call, isStored, mayBeStored)
}

export const createFileChanges = (
  send: Send,
  root: string,
  urlOf: (path: string, query?: Query) => string,
  stat: Stat,
): FileChanges => {
  const limit: Limit = { piece: Number.POSITIVE_INFINITY }
  const uploads = `${root}/uploads/`

  const statOf: StatOf = async (path, signal) => {
    try {
      return await stat(path, signal)
    } catch (error) {
      if (hasStatus(error, 404)) return undefined
      throw error
    }
  }

  /** The repeated change has a condition. If it finds no source, the earlier attempt has moved the source. */
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

  // The service would store the file at the path of a missing folder with the name of the file (S-34).
  const createFolderOfSameName = async (folder: string, signal: AbortSignal | undefined) => {
    const headers = { 'If-None-Match': '*' }
    const call = { method: 'PUT', url: urlOf(folder, { type: 'folder' }), headers, signal, repeatable: true }
    await sendChange(send, call, async (error) => hasStatus(error, 412), true)
  }

  const store = async (path: string, source: Source, condition: Condition, options: PutOptions): Promise<void> => {
    const { onProgress, contentType } = options
    if (source.size <= largestRequest) {
      onProgress?.({ sent: 0, total: source.size })
      const sizeNow = async () => (await statOf(path, options.signal))?.size
      await putWhole(send, urlOf(path), source, condition, sizeNow, options)
      onProgress?.({ sent: source.size, total: source.size })
      return
    }
    const parts = partsOf(path)
    const name = parts.pop() ?? ''
    const folder = parts.join('/')
    if (parts.at(-1)?.normalize('NFC') === name.normalize('NFC')) await createFolderOfSameName(folder, options.signal)
    const destination = { folder: urlOf(folder), name, contentType, condition, uploads }
    // Only large files need this module, so pages load it on demand.
    const { uploadLarge } = await import('./large-uploads.ts')
    await uploadLarge(send, source, destination, options, limit)
  }

  return {
    async put(path, content, options = {}) {
      const { replace = false, signal } = options
      signal?.throwIfAborted()
      const source = sourceOf(content)
      const condition = await conditionOf(statOf, path, options)
      try {
        await store(path, source, condition, options)
      } catch (error) {
        if (!('If-None-Match' in condition && hasStatus(error, 412))) throw error
        throw alreadyExists(path, replace !== false, error)
      }
    },
    cancel: async (upload) => (await import('./large-uploads.ts')).cancelUpload(send, uploads, upload),
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
      // An older service knows no purge, and would delete the file. But it refuses this value of `force` (H-30).
      const url = urlOf(path, { force: 'never', versions: version ? undefined : '', versionId: version })
      const entry = await statOf(path)
      // A repetition must not purge versions of a file that was replaced meanwhile.
      const headers: Condition = entry ? (entry.etag ? { 'If-Match': entry.etag } : {}) : { 'If-None-Match': '*' }
      await sendChange(send, { method: 'DELETE', url, headers, repeatable: true }, async (error) =>
        hasStatus(error, 404),
      )
    },
  }
}
