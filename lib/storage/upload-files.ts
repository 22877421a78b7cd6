import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { createUploadConditions } from './conditions.ts'
import { isPage } from './file-kind.ts'
import { onFoundWay } from './look-up.ts'
import type { Staged } from './object-store.ts'
import { ancestorsOf, childOf, fileKey, folderKey, nameOf, parseFileName, root, type StoragePath } from './path.ts'
import {
  type Absences,
  allInOrder,
  findWay,
  noFileFor,
  putOnWay,
  type Requester,
  refuseGoing,
  refuseRivals,
  type StorageStores,
  type Way,
} from './put-in-place.ts'
import { readAhead } from './read-ahead.ts'
import { type FileContent, type StageTarget, stageFile } from './stage-file.ts'

/** A file of an upload, before its name is looked at. */
export interface IncomingFile extends FileContent {
  /** Empty when the client gave none. Undefined when it did not send a file at all. */
  readonly fileName: string | undefined
}

export interface UploadDeps extends StorageStores {
  /** Bytes. */
  readonly largestFile: number
}

/** How many files an upload may bring. */
export const mostFiles = 100

/** Files up to this size are taken in side by side, larger ones one after the other, at the pace of the body. In bytes. */
const smallFile = 64 * 1024

interface NamedFile {
  readonly name: string
  readonly staging: Promise<Staged>
}

/** Takes in every file of the body that has a place, and nothing of it when one of them is refused. */
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

/**
 * Operation 12: files into a folder, which is created with all that it lies in. All or nothing.
 * When the one file is called like the folder, it is stored at the folder's own path, unless a folder stands there: some clients put the
 * name of the file in the path too. Errors: as decisions.md, section 5, "Upload", lists them.
 */
export const uploadFiles = async (
  deps: UploadDeps,
  site: SiteId,
  folder: StoragePath,
  incoming: AsyncIterable<IncomingFile>,
  requester: Requester,
): Promise<void> => {
  const { files, workflows, removals } = deps
  const { author, remainingTime, isAsWritten } = requester
  const around = ancestorsOf(folder)
  const folders = folder === root ? around : [...around, folder]
  const [way] = await allInOrder([findWay(files, site, folders), refuseGoing(removals, site, [folder])])
  const found = isAsWritten ? folder : await onFoundWay(files, site, folder, way)
  if (found !== folder) return uploadFiles(deps, site, found, incoming, { ...requester, isAsWritten: true })
  const above: Way = { ...way, missing: way.missing.filter((one) => one !== folder) }
  await refuseRivals(deps, noFileFor(site, above))
  const staged: NamedFile[] = []
  const uploadConditions = createUploadConditions(files, site, requester.conditions)
  try {
    let firstMayBeFolder = false
    const targetOf = async (name: string, index: number): Promise<StageTarget> => {
      if (index > 0 || name !== nameOf(folder)) {
        return { site, area: 'live', path: childOf(folder, name), isSettled: true }
      }
      // Whether it stays the only one, nobody knows yet. Whether the folder stands is asked now: for other names it is no matter.
      firstMayBeFolder = !(await files.exists(folderKey('live', site, folder)))
      const path = firstMayBeFolder ? folder : childOf(folder, name)
      return { site, area: 'live', path, isSettled: !firstMayBeFolder }
    }
    const placeOf = async (name: string, index: number): Promise<StageTarget | undefined> => {
      const target = await targetOf(name, index)
      return (await uploadConditions.admits(target.path, index)) ? target : undefined
    }
    await stageAll(deps, incoming, placeOf, staged)
    const atFolderPath = firstMayBeFolder && staged.length === 1
    const placed = await Promise.all(
      staged.map(async ({ name, staging }) => ({
        path: atFolderPath ? folder : childOf(folder, name),
        staged: await staging,
      })),
    )
    const paths = placed.map(({ path }) => path)
    const matching = await uploadConditions.expectedAt(paths)
    const pages = paths.filter(isPage)
    if (pages.length > 0 && (await workflows.isRunning(site, pages))) throw new ServiceError('workflowUpdated')
    const folderIsFile: Absences =
      atFolderPath || folder === root ? [] : [[fileKey('live', site, folder), 'folderUnknown']]
    await putOnWay(deps, atFolderPath ? around : folders, atFolderPath ? above : way, {
      site,
      // The one look at the folder is for all of its files.
      paths: [folder],
      changes: placed.map(({ path, staged }) => ({ kind: 'put', key: fileKey('live', site, path), staged })),
      absent: [...folderIsFile, ...paths.map((path) => [folderKey('live', site, path), 'destinationExists'] as const)],
      matching,
      see: () => uploadConditions.seeAgain(paths),
      remainingTime,
      entry: { ...author, site, type: 'file.stored', subject: folder, details: { names: paths.map(nameOf) } },
    })
  } catch (error) {
    await discardAll(staged)
    throw error
  }
}
