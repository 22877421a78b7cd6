import { ServiceError } from '../core/errors.ts'
import type { Author, HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import { seeConditions } from './conditions.ts'
import { isPage } from './file-kind.ts'
import { onFoundWay, standingFolder } from './look-up.ts'
import type { Change, Expected, Staged } from './object-store.ts'
import {
  type Area,
  ancestorsOf,
  childOf,
  fileKey,
  folderKey,
  nameOf,
  parentOf,
  root,
  type StoragePath,
} from './path.ts'
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
import { type FileContent, type StageTarget, stageFile } from './stage-file.ts'
import type { UploadDeps } from './upload-files.ts'

/** Where one file goes, and by what kind of request. */
export interface FilePlace {
  readonly site: SiteId
  readonly path: StoragePath
  /** What is no page has no drafts: its draft is the live file. */
  readonly asDraft: boolean
  /** Whether the draft of a page stays beside the live file that is stored, as with a form; otherwise it is published, and gone. */
  readonly keepsDraft?: boolean
  /** The folder that the file is sent into, or the file's own path, where a client has put the name there too. */
  readonly into?: StoragePath | undefined
}

/** What is decided of a file before its bytes are there. */
interface Admitted {
  /** With the folders on the way as they were found. */
  readonly place: FilePlace
  readonly way: Way
  readonly absent: Absences
  readonly matching: readonly Expected[]
}

const areaOf = ({ path, asDraft }: FilePlace): Area => (asDraft && isPage(path) ? 'draft' : 'live')

/** What is on the way to a file: into a folder that is no file, it goes by another code. */
const absencesOf = ({ site, path, into }: FilePlace): Absences => {
  const folder: Absences =
    into === undefined || into === path || into === root ? [] : [[fileKey('live', site, into), 'folderUnknown']]
  return [...folder, [folderKey('live', site, path), 'destinationExists']]
}

const moved = (place: FilePlace, path: StoragePath): FilePlace => ({
  ...place,
  path,
  ...(place.into !== undefined && { into: place.into === place.path ? path : parentOf(path) }),
})

/**
 * Where a file of that name goes that is sent into a folder. One that is called like the folder is stored at the folder's own path, unless a folder
 * stands there: some clients put the name of the file in the path too.
 */
export const placeInFolder = async (
  { files }: Pick<StorageStores, 'files'>,
  { site, folder, name }: { readonly site: SiteId; readonly folder: StoragePath; readonly name: string },
  { isAsWritten = false }: Pick<Requester, 'isAsWritten'>,
): Promise<Required<Pick<FilePlace, 'path' | 'into'>>> => {
  const inside = { path: childOf(folder, name), into: folder }
  if (nameOf(folder).toLowerCase() !== name.toLowerCase()) return inside
  const found = isAsWritten ? folder : await standingFolder(files, site, folder)
  if (nameOf(found) !== name || (await files.exists(folderKey('live', site, found)))) return inside
  return { path: found, into: found }
}

/**
 * Decides whether a file may be stored at a place, as far as that can be said without its bytes.
 * Errors: nameRequired, pathUnknown, folderUnknown, conditionFailed, destinationExists, folderGoing.
 */
export const admitFile = async (
  deps: StorageStores,
  place: FilePlace,
  requester: Pick<Requester, 'isAsWritten' | 'conditions'>,
): Promise<Admitted> => {
  const { site, path, asDraft } = place
  const { isAsWritten, conditions } = requester
  if (path === root) throw new ServiceError('nameRequired')
  const absent = absencesOf(place)
  // Looked at beside the way to it, and told of after that.
  const seeing = allInOrder([seeConditions(deps.files, site, path, asDraft, conditions), refuseRivals(deps, absent)])
  seeing.catch(() => {})
  const [way] = await allInOrder([
    findWay(deps.files, site, ancestorsOf(path)),
    refuseGoing(deps.removals, site, [path]),
  ])
  const found = isAsWritten ? path : await onFoundWay(deps.files, site, path, way)
  if (found !== path) return admitFile(deps, moved(place, found), { ...requester, isAsWritten: true })
  await refuseRivals(deps, [...absent.filter(([, error]) => error === 'folderUnknown'), ...noFileFor(site, way)])
  const [matching] = await seeing
  return { place, way, absent, matching }
}

/** Errors: workflowUpdated. */
export const refuseWorkflow = async (
  { workflows }: Pick<StorageStores, 'workflows'>,
  { site, path }: FilePlace,
): Promise<void> => {
  if (isPage(path) && (await workflows.isRunning(site, [path]))) throw new ServiceError('workflowUpdated')
}

const entryOf = ({ site, path, into, asDraft }: FilePlace, author: Author): HistoryEntry => {
  const details = {
    ...(into !== undefined && { names: [nameOf(path)] }),
    ...(asDraft && isPage(path) && { draft: true }),
  }
  const hasDetails = Object.keys(details).length > 0
  return { ...author, site, type: 'file.stored', subject: into ?? path, ...(hasDetails && { details }) }
}

/**
 * Puts the bytes of one file in place that `stage` takes in, when they may be there (decisions.md, section 5, "Raw upload").
 * Errors: those of admitFile and of `stage`, workflowUpdated, unavailable.
 */
export const putStaged = async (
  deps: StorageStores,
  wanted: FilePlace,
  stage: (target: StageTarget) => Promise<Staged>,
  requester: Requester,
): Promise<void> => {
  const { author, remainingTime, conditions } = requester
  const { place, way, absent, matching } = await admitFile(deps, wanted, requester)
  const { site, path, asDraft, keepsDraft = false } = place
  const area = areaOf(place)
  const staged = await stage({ site, area, path, isSettled: true })
  try {
    await refuseWorkflow(deps, place)
    const published: Change[] =
      area === 'live' && !keepsDraft && isPage(path) ? [{ kind: 'remove', key: fileKey('draft', site, path) }] : []
    await putOnWay(deps, ancestorsOf(path), way, {
      site,
      paths: [path],
      changes: [{ kind: 'put', key: fileKey(area, site, path), staged }, ...published],
      absent,
      matching,
      see: () => seeConditions(deps.files, site, path, asDraft, conditions),
      remainingTime,
      entry: entryOf(place, author),
    })
  } catch (error) {
    // The caller is told what failed first.
    await staged.discard().catch(() => {})
    throw error
  }
}

/**
 * Stores the content of one file; a live page's draft is gone then (decisions.md, section 5, "Raw upload"). Errors: those of putStaged,
 * fileTooLarge, those of a template.
 */
export const putFile = (
  deps: UploadDeps,
  site: SiteId,
  path: StoragePath,
  asDraft: boolean,
  content: FileContent,
  requester: Requester,
): Promise<void> => putStaged(deps, { site, path, asDraft }, (target) => stageFile(deps, target, content), requester)
