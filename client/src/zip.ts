import { readBytes } from './file-bytes.ts'
import type { Files, ListedFile } from './files.ts'
import { joinPath, partsOf } from './paths.ts'
import { hasStatus, ServiceError } from './service-error.ts'
import { formatZip, type ZipItem } from './zip-format.ts'

/** The list of a larger zip would need too much memory. */
const mostFiles = 250_000
/** Files that are read before their turn: how many, and the size of the largest in bytes. */
const mostAhead = 6
const largestAhead = 1024 ** 2
const pathsAtOnce = 8

interface Contained extends Pick<ListedFile, 'path' | 'etag' | 'size' | 'lastModified'> {
  readonly name: string
}

interface Contents {
  readonly files: readonly Contained[]
  /** Names of chosen folders without files. */
  readonly folders: readonly string[]
}

export interface ZipProgress {
  /** Files and bytes that were written. */
  readonly files: number
  readonly bytes: number
}

export interface ZipStreamOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: ZipProgress) => void) | undefined
}

export interface Zip {
  readonly files: number
  /** The bytes of the files. The zip has about 200 bytes more for each file. */
  readonly bytes: number
  /**
   * Reads the files and writes them to a zip without compression. Fails if a file changes or disappears: discard the
   * bytes then, because the zip is not complete.
   */
  stream(options?: ZipStreamOptions): ReadableStream<Uint8Array>
}

const refusal = (message: string, path?: string): ServiceError =>
  new ServiceError({ status: 0, code: 0, message, path })

const isUnsafe = (name: string): boolean =>
  /[\p{Cc}\\]|^[a-z]:/iu.test(name) || name.split('/').some((part) => ['', '.', '..'].includes(part))

const checkNames = (names: readonly string[]): void => {
  const known = new Set<string>()
  for (const name of names) {
    if (isUnsafe(name))
      throw refusal(
        `"${name}" cannot be in a zip, because other systems would store this file in another place. Rename the ` +
          'file on the site, then repeat.',
        name,
      )
    if (known.has(name)) throw refusal(`Two files would be "${name}" in the zip. Download them separately.`, name)
    known.add(name)
  }
}

/** The root of the site has no name, so its files have no folder in the zip. */
const listPath = async (
  files: Files,
  path: string,
  entry: Awaited<ReturnType<Files['stat']>> | undefined,
  room: number,
  signal?: AbortSignal,
): Promise<Contents> => {
  const name = partsOf(path).at(-1) ?? ''
  if (entry && entry.type === 'file') {
    const { etag = '*', size, lastModified } = entry
    return { files: [{ name, path, etag, size, lastModified }], folders: [] }
  }
  const found: Contained[] = []
  for await (const { path: below, etag, size, lastModified } of files.listAll(path, signal)) {
    found.push({ name: joinPath(name, below), path: joinPath(path, below), etag, size, lastModified })
    if (found.length > room)
      throw refusal(
        `A zip can contain at most ${mostFiles.toLocaleString('en')} files. Download its folders one by one.`,
      )
  }
  return { files: found, folders: found.length === 0 && name !== '' ? [name] : [] }
}

const collect = async (chunks: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[]> => {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

const explain = (error: unknown, path: string): unknown =>
  hasStatus(error, 404, 412)
    ? new ServiceError({
        ...error,
        status: 412,
        message: `"${path}" changed or was removed during the download, so the zip is not complete. Repeat the download.`,
        path,
      })
    : error

/** Starts the reads of small files early, because every answer takes a while to begin. */
const readAhead = async function* (files: Files, all: readonly Contained[], signal: AbortSignal | undefined) {
  const stop = new AbortController()
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  const begin = (file: Contained | undefined) => {
    if (!file || file.size > largestAhead) return undefined
    const whole = collect(readBytes(files, file, either))
    whole.catch(() => {})
    return whole
  }
  const bytesOf = async function* (file: Contained, whole: ReturnType<typeof begin>) {
    try {
      yield* whole ? await whole : readBytes(files, file, either)
    } catch (error) {
      throw explain(error, file.path)
    }
  }
  const ahead = all.slice(0, mostAhead).map(begin)
  try {
    for (const [index, file] of all.entries()) {
      yield { file, bytes: bytesOf(file, ahead.shift()) }
      ahead.push(begin(all[index + mostAhead]))
    }
  } finally {
    stop.abort()
  }
}

const momentOf = (iso: string | null): Date | undefined => {
  const date = new Date(iso ?? '')
  return Number.isNaN(date.getTime()) ? undefined : date
}

const itemsOf = async function* (
  files: Files,
  contents: Contents,
  { signal, onProgress }: ZipStreamOptions,
): AsyncGenerator<ZipItem> {
  let written = { files: 0, bytes: 0 }
  const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      yield chunk
      written = { ...written, bytes: written.bytes + chunk.length }
      onProgress?.(written)
    }
    written = { ...written, files: written.files + 1 }
    onProgress?.(written)
  }
  for (const name of contents.folders) yield { name }
  for await (const { file, bytes } of readAhead(files, contents.files, signal)) {
    const { name, size, lastModified } = file
    yield { name, size, modified: momentOf(lastModified), bytes: counted(bytes) }
  }
}

/**
 * Lists the given files and folders, and everything below them, for one zip. The root of the site is an empty path.
 * Errors: `ServiceError`, also for names that are unsafe in a zip.
 */
export const openZip = async (files: Files, paths: readonly string[], signal?: AbortSignal): Promise<Zip> => {
  const contents: { files: Contained[]; folders: string[] } = { files: [], folders: [] }
  for (let from = 0; from < paths.length; from += pathsAtOnce) {
    signal?.throwIfAborted()
    const some = paths.slice(from, from + pathsAtOnce).map((path) => partsOf(path).join('/'))
    const entries = await Promise.all(some.map((path) => (path === '' ? undefined : files.stat(path))))
    for (const [index, path] of some.entries()) {
      const found = await listPath(files, path, entries[index], mostFiles - contents.files.length, signal)
      contents.files = contents.files.concat(found.files)
      contents.folders.push(...found.folders)
    }
  }
  checkNames([...contents.files.map(({ name }) => name), ...contents.folders])
  return {
    files: contents.files.length,
    bytes: contents.files.reduce((sum, { size }) => sum + size, 0),
    stream: (options = {}) =>
      formatZip(itemsOf(files, contents, options), contents.files.length + contents.folders.length),
  }
}
