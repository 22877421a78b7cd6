import type { Files, ListedFile } from '../files.ts'
import { inParallel } from '../in-parallel.ts'
import { joinPath } from '../paths.ts'
import { isMissing } from '../service-error.ts'
import { type Ignored, isInStateFolder, stateFolder } from './ignored.ts'
import type { Skipped } from './local-tree.ts'
import { type FileState, foldersOf } from './plan.ts'

export interface RemoteFile extends FileState {
  readonly etag: string
  readonly modified: string | null
}

const refusedByWindows = /[<>:"|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

export const unstorableReason = (path: string, platform: string = process.platform): string | undefined => {
  const parts = path.split('/')
  // Another server might return a path that leads out of the folder.
  if (parts.some((part) => ['', '.', '..'].includes(part))) return 'The path contains an empty part, "." or "..".'
  if (/[\p{Cc}\\]/u.test(path)) return 'The name contains a control character or a backslash.'
  if (platform === 'win32' && parts.some((part) => refusedByWindows.test(part))) return 'Windows refuses this name.'
  return undefined
}

export interface RemoteTree {
  readonly files: ReadonlyMap<string, RemoteFile>
  /** The folders of all files, also of files that the run leaves out. */
  readonly folders: ReadonlySet<string>
  readonly skipped: readonly Skipped[]
  readonly unstorable: readonly { readonly path: string; readonly message: string }[]
  readonly ignored: number
}

export const listRemote = async (
  files: Files,
  folder: string,
  ignored: Ignored,
  signal?: AbortSignal,
): Promise<RemoteTree> => {
  const listed: ListedFile[] = []
  const paths: string[] = []
  const skipped: Skipped[] = []
  const unstorable: RemoteTree['unstorable'][number][] = []
  let ignoredPaths = 0
  try {
    for await (const file of files.listAll(folder, signal)) {
      const { path } = file
      paths.push(path)
      const why = unstorableReason(path)
      if (why) unstorable.push({ path, message: `${why} Rename it on the site, then repeat the command.` })
      else if (isInStateFolder(path)) skipped.push({ path, why: `${stateFolder} is reserved for this command` })
      else if (ignored(path)) ignoredPaths++
      else listed.push(file)
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const tree = new Map<string, RemoteFile>()
  const keep = ({ path, size, etag, lastModified: modified }: ListedFile, fingerprint: string) =>
    tree.set(path, { size, etag, modified, fingerprint: fingerprint === '' ? [] : [fingerprint] })
  for (const file of listed) if (file.fingerprint !== null) keep(file, file.fingerprint)
  // The service computes the fingerprint of a large file after its upload. A request for the file itself waits for the
  // fingerprint.
  const unknown = listed.filter(({ fingerprint }) => fingerprint === null)
  await inParallel(unknown, 8, async (file) => {
    try {
      const { fingerprint, etag } = await files.stat(joinPath(folder, file.path))
      keep({ ...file, etag: etag ?? file.etag }, fingerprint ?? '')
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  })
  return { files: tree, folders: new Set(paths.flatMap(foldersOf)), skipped, unstorable, ignored: ignoredPaths }
}
