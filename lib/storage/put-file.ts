import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { checkConditions } from './conditions.ts'
import {
  type Absences,
  allInOrder,
  carryOut,
  noFileAt,
  type Plan,
  type Requester,
  refuseOccupied,
  resolve,
  type StorageStores,
} from './engine.ts'
import { isPage } from './file-kind.ts'
import type { Change, Expected, Staged } from './object-store.ts'
import {
  type Area,
  ancestorsOf,
  childOf,
  fileKey,
  foldCase,
  folderKey,
  nameOf,
  parentOf,
  root,
  type StoragePath,
} from './path.ts'
import { type Ancestors, resolveFolder } from './resolve-path.ts'
import { type FileContent, type StageTarget, stageFile } from './stage-file.ts'
import type { UploadDeps } from './upload-files.ts'

export interface FilePlace {
  readonly site: SiteId
  readonly path: StoragePath
  /** Only pages have drafts: otherwise it is the live file (S-20). */
  readonly asDraft: boolean
  /** A form keeps the draft. Publishing removes it (S-48). */
  readonly keepsDraft?: boolean
  /** The folder of an upload, or the file's own path where the client added the name (S-34). */
  readonly into?: StoragePath | undefined
}

interface Admitted {
  readonly place: FilePlace
  readonly ancestors: Ancestors
  readonly matching: readonly Expected[]
}

const areaOf = ({ path, asDraft }: FilePlace): Area => (asDraft && isPage(path) ? 'draft' : 'live')

// S-42: the folder of the upload is a file.
const noFileAtFolder = ({ site, path, into }: FilePlace): Absences =>
  into === undefined || into === path || into === root ? [] : [[fileKey('live', site, into), 'folderUnknown']]

const absencesOf = (place: FilePlace): Absences => [
  ...noFileAtFolder(place),
  [folderKey('live', place.site, place.path), 'destinationExists'],
]

const relocated = (place: FilePlace, path: StoragePath): FilePlace => ({
  ...place,
  path,
  ...(place.into !== undefined && { into: place.into === place.path ? path : parentOf(path) }),
})

/** S-34. */
export const placeInFolder = async (
  { files }: Pick<StorageStores, 'files'>,
  { site, folder, name }: { readonly site: SiteId; readonly folder: StoragePath; readonly name: string },
  { isCaseSensitive = false }: Pick<Requester, 'isCaseSensitive'>,
): Promise<Required<Pick<FilePlace, 'path' | 'into'>>> => {
  const inside = { path: childOf(folder, name), into: folder }
  if (foldCase(nameOf(folder)) !== foldCase(name)) return inside
  const found = isCaseSensitive ? folder : await resolveFolder(files, site, folder)
  if (nameOf(found) !== name || (await files.exists(folderKey('live', site, found)))) return inside
  return { path: found, into: found }
}

/**
 * Makes every check that needs no bytes. Errors: nameRequired, pathUnknown, folderUnknown, conditionFailed,
 * destinationExists, folderLocked.
 */
export const admitFile = async (
  deps: StorageStores,
  wanted: FilePlace,
  { isCaseSensitive, conditions }: Pick<Requester, 'isCaseSensitive' | 'conditions'>,
): Promise<Admitted> => {
  const { site, asDraft } = wanted
  if (wanted.path === root) throw new ServiceError('nameRequired')
  const { path, ancestors, looked } = await resolve(deps, wanted, isCaseSensitive, (path) =>
    allInOrder([
      checkConditions(deps.files, site, path, asDraft, conditions),
      refuseOccupied(deps, absencesOf(relocated(wanted, path))),
    ]),
  )
  const place = relocated(wanted, path)
  await refuseOccupied(deps, [...noFileAtFolder(place), ...noFileAt(site, ancestors.missing)])
  const [matching] = await looked
  return { place, ancestors, matching }
}

export const refuseWorkflow = async (
  { workflows }: Pick<StorageStores, 'workflows'>,
  { site, path }: Pick<FilePlace, 'site' | 'path'>,
): Promise<void> => {
  if (isPage(path) && (await workflows.isRunning(site, [path]))) throw new ServiceError('workflowUpdated')
}

const entryOf = ({ path, into, asDraft }: FilePlace): Plan['entry'] => {
  const details = {
    ...(into !== undefined && { names: [nameOf(path)] }),
    ...(asDraft && isPage(path) && { draft: true }),
  }
  const hasDetails = Object.keys(details).length > 0
  return { type: 'file.stored', subject: into ?? path, ...(hasDetails && { details }) }
}

const planPut = (place: FilePlace, staged: Staged): Plan => {
  const { site, path, keepsDraft = false } = place
  const area = areaOf(place)
  const published: Change[] =
    area === 'live' && !keepsDraft && isPage(path) ? [{ kind: 'remove', key: fileKey('draft', site, path) }] : []
  return {
    site,
    paths: [path],
    changes: [{ kind: 'put', key: fileKey(area, site, path), staged }, ...published],
    absent: absencesOf(place),
    entry: entryOf(place),
  }
}

/** S-47. Errors: those of `admitFile` and `stage`, workflowUpdated, unavailable. */
export const putStaged = async (
  deps: StorageStores,
  wanted: FilePlace,
  stage: (target: StageTarget) => Promise<Staged>,
  requester: Requester,
): Promise<void> => {
  const { place, ancestors, matching } = await admitFile(deps, wanted, requester)
  const { site, path, asDraft } = place
  const staged = await stage({ site, area: areaOf(place), path, isSettled: true })
  try {
    await refuseWorkflow(deps, place)
    const checkAgain = () => checkConditions(deps.files, site, path, asDraft, requester.conditions)
    const plan = { ...planPut(place, staged), matching, checkAgain }
    await carryOut(deps, plan, requester, ancestorsOf(path), ancestors)
  } catch (error) {
    // The first error counts.
    await staged.discard().catch(() => {})
    throw error
  }
}

/** S-47, S-48. Errors: those of `putStaged`, fileTooLarge, those of a template. */
export const putFile = (
  deps: UploadDeps,
  site: SiteId,
  path: StoragePath,
  asDraft: boolean,
  content: FileContent,
  requester: Requester,
): Promise<void> => putStaged(deps, { site, path, asDraft }, (target) => stageFile(deps, target, content), requester)
