import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { createUploadConditions } from './conditions.ts'
import {
  type Absences,
  carryOut,
  noFileAt,
  type Plan,
  type Requester,
  refuseOccupied,
  resolve,
  type StorageStores,
} from './engine.ts'
import { isPage } from './file-kind.ts'
import type { Staged } from './object-store.ts'
import { ancestorsOf, childOf, fileKey, folderKey, nameOf, parseFileName, root, type StoragePath } from './path.ts'
import { readAhead } from './read-ahead.ts'
import { type FileContent, type StageTarget, stageFile } from './stage-file.ts'

export interface IncomingFile extends FileContent {
  /** Empty when the client gave none. Undefined when the part is no file. */
  readonly fileName: string | undefined
}

export interface UploadDeps extends StorageStores {
  /** Bytes. */
  readonly largestFile: number
}

export const mostFiles = 100

// Bytes. Smaller files are staged side by side, larger ones one after the other.
const smallFile = 64 * 1024

interface NamedFile {
  readonly name: string
  readonly staging: Promise<Staged>
}

const stageAll = async (
  deps: UploadDeps,
  files: AsyncIterable<IncomingFile>,
  placeOf: (name: string, index: number) => Promise<StageTarget | undefined>,
  staged: NamedFile[],
): Promise<void> => {
  let count = 0
  for await (const { fileName, contentType, content } of files) {
    if (fileName === undefined) {
      throw new ServiceError('notAFile', { message: 'The part "file" is not a file: it has no file name.' })
    }
    const name = parseFileName(fileName)
    if (staged.some((file) => file.name === name)) throw new ServiceError('nameTaken')
    if (count === mostFiles) {
      throw new ServiceError('storageRefused', { message: `An upload brings at most ${mostFiles} files.` })
    }
    const target = await placeOf(name, count)
    count += 1
    if (!target) continue
    const ahead = await readAhead(content, smallFile)
    const staging = stageFile(deps, target, { contentType, content: ahead.content })
    staged.push({ name, staging })
    // A failure of what goes on beside is seen when all of them are waited for.
    if (ahead.isWhole) staging.catch(() => {})
    else await staging
  }
  if (count === 0) {
    throw new ServiceError('storageRefused', { message: 'The request has no part "file" with the content of a file.' })
  }
}

const discardAll = async (files: readonly NamedFile[]): Promise<void> => {
  const settled = await Promise.allSettled(files.map(({ staging }) => staging))
  await Promise.allSettled(
    settled.map((result) => (result.status === 'fulfilled' ? result.value.discard() : undefined)),
  )
}

interface StagedFile {
  readonly path: StoragePath
  readonly staged: Staged
}

const planUpload = (site: SiteId, folder: StoragePath, placed: readonly StagedFile[]): Plan => {
  const paths = placed.map(({ path }) => path)
  const isFolderTarget = folder === root || paths.includes(folder)
  const noFileAtFolder: Absences = isFolderTarget ? [] : [[fileKey('live', site, folder), 'folderUnknown']]
  return {
    site,
    // One lookup of the folder covers all of its files.
    paths: [folder],
    changes: placed.map(({ path, staged }) => ({ kind: 'put', key: fileKey('live', site, path), staged })),
    absent: [...noFileAtFolder, ...paths.map((path) => [folderKey('live', site, path), 'destinationExists'] as const)],
    entry: { type: 'file.stored', subject: folder, details: { names: paths.map(nameOf) } },
  }
}

const withAncestors = (folder: StoragePath): readonly StoragePath[] =>
  folder === root ? [] : [...ancestorsOf(folder), folder]

/** Operation 12 (S-27 to S-46): stores files in a folder and creates the folder. All or nothing. */
export const uploadFiles = async (
  deps: UploadDeps,
  site: SiteId,
  wanted: StoragePath,
  incoming: AsyncIterable<IncomingFile>,
  requester: Requester,
): Promise<void> => {
  const { files, workflows } = deps
  const target = { site, path: wanted, foldersOf: withAncestors }
  const { path: folder, ancestors } = await resolve(deps, target, requester.isCaseSensitive, async () => {})
  const above = { ...ancestors, missing: ancestors.missing.filter((one) => one !== folder) }
  await refuseOccupied(deps, noFileAt(site, above.missing))
  const staged: NamedFile[] = []
  const conditions = createUploadConditions(files, site, requester.conditions)
  try {
    let firstMayBeFolder = false
    const targetOf = async (name: string, index: number): Promise<StageTarget | undefined> => {
      if (index === 0 && name === nameOf(folder)) {
        // It replaces the folder's path only if it stays the only file (S-34).
        firstMayBeFolder = !(await files.exists(folderKey('live', site, folder)))
      }
      const isSettled = !(firstMayBeFolder && index === 0)
      const path = isSettled ? childOf(folder, name) : folder
      return (await conditions.admits(path, index)) ? { site, area: 'live', path, isSettled } : undefined
    }
    await stageAll(deps, incoming, targetOf, staged)
    const atFolderPath = firstMayBeFolder && staged.length === 1
    const placed = await Promise.all(
      staged.map(async ({ name, staging }) => ({
        path: atFolderPath ? folder : childOf(folder, name),
        staged: await staging,
      })),
    )
    const paths = placed.map(({ path }) => path)
    const matching = await conditions.expectedAt(paths)
    const pages = paths.filter(isPage)
    if (pages.length > 0 && (await workflows.isRunning(site, pages))) throw new ServiceError('workflowUpdated')
    const plan = { ...planUpload(site, folder, placed), matching, checkAgain: () => conditions.checkAgain(paths) }
    const folders = atFolderPath ? ancestorsOf(folder) : withAncestors(folder)
    await carryOut(deps, plan, requester, folders, atFolderPath ? above : ancestors)
  } catch (error) {
    await discardAll(staged)
    throw error
  }
}
