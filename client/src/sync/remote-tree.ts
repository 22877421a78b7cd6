import type { Files, ListedFile } from '../files.ts'
import { ServiceError } from '../service-error.ts'
import { type Ignored, isOfState } from './ignored.ts'
import { inParallel } from './in-parallel.ts'
import type { FileState } from './plan.ts'

/** A file of the site. */
export interface RemoteFile extends FileState {
  readonly etag: string
}

const isMissing = (error: unknown): boolean => error instanceof ServiceError && error.code === 104001

/**
 * A path that can be written below a folder of this machine: what another server might say is not to lead out of it.
 */
const isPlain = (path: string): boolean =>
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !/[\p{Cc}\\]/u.test(part))

export interface RemoteTree {
  readonly files: ReadonlyMap<string, RemoteFile>
  /** Ignored files. */
  readonly ignored: number
}

/** The files below a folder of the site; none when the folder is not there. Errors: `ServiceError`. */
export const listRemote = async (
  files: Files,
  folder: string,
  ignored: Ignored,
  signal?: AbortSignal,
): Promise<RemoteTree> => {
  const listed: ListedFile[] = []
  let leftOut = 0
  try {
    for await (const file of files.listAll(folder, signal)) {
      if (!isPlain(file.path)) continue
      if (!ignored(file.path)) listed.push(file)
      else if (!isOfState(file.path)) leftOut++
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const tree = new Map<string, RemoteFile>()
  const keep = ({ path, size, etag }: ListedFile, fingerprint: string) =>
    tree.set(path, { size, etag, fingerprint: fingerprint === '' ? [] : [fingerprint] })
  for (const file of listed) if (file.fingerprint !== null) keep(file, file.fingerprint)
  // The service makes the fingerprint of a large file after its upload, and waits for it when it is asked for the file
  // itself.
  const unknown = listed.filter(({ fingerprint }) => fingerprint === null)
  await inParallel(unknown, 8, async (file) => {
    const { fingerprint, etag } = await files.stat(folder === '' ? file.path : `${folder}/${file.path}`)
    keep({ ...file, etag: etag ?? file.etag }, fingerprint ?? '')
  })
  return { files: tree, ignored: leftOut }
}
