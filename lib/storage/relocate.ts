import type { Clock } from '../core/clock.ts'
import { errors, ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { expectSource, type Source } from './conditions.ts'
import { noteRemoval } from './folder-removals.ts'
import { inStandingFolder, onFoundWay } from './look-up.ts'
import { checkTemplates, templatesAmong } from './new-templates.ts'
import type { Change, ObjectStore } from './object-store.ts'
import {
  ancestorsOf,
  childOf,
  fileKey,
  folderKey,
  parentOf,
  parseName,
  root,
  type StoragePath,
  toStoragePath,
} from './path.ts'
import {
  type Absences,
  findWay,
  mostAttempts,
  noFileFor,
  onWay,
  putInPlace,
  type Requester,
  refuseGoing,
  refuseRivals,
  type StorageStores,
  type Way,
} from './put-in-place.ts'
import { checkLengths, isTransfer, type Relocation, tooMuch, transfersOfFile, transfersOfFolder } from './transfers.ts'

export interface RelocateDeps extends StorageStores {
  readonly clock: Clock
  readonly reservedFolders: readonly string[]
}

/** Another name in the same folder; another path; or the path of a copy. Paths are plain text, and may begin with slashes. */
export type Destination = { readonly name: string } | { readonly path: string } | { readonly copyTo: string }

/** What the reading of templates leaves of the time for moving them, in milliseconds. */
const timeToMove = 12_000

/** Errors: nameRequired (the root as well), urlInvalid, nameTooLong. */
const wantedOf = (path: StoragePath, destination: Destination): Pick<Relocation, 'kind' | 'target'> => {
  if ('name' in destination) {
    const name = parseName(destination.name)
    if (path === root) throw new ServiceError('nameRequired')
    return { kind: 'move', target: childOf(parentOf(path), name) }
  }
  const isCopy = 'copyTo' in destination
  const target = toStoragePath(isCopy ? destination.copyTo : destination.path)
  if (path === root || target === root) throw new ServiceError('nameRequired')
  return { kind: isCopy ? 'copy' : 'move', target }
}

/** What stays in its folder shows that the folder is there. */
const wayTo = async (files: ObjectStore, { site, path, target }: Relocation): Promise<Way> =>
  parentOf(target) === parentOf(path) ? { standing: undefined, missing: [] } : findWay(files, site, ancestorsOf(target))

/** A relocation with the way to its target, whose folders are those that are there. */
interface Settled {
  readonly relocation: Relocation
  readonly way: Way
}

const settle = async (files: ObjectStore, relocation: Relocation, isAsWritten = false): Promise<Settled> => {
  const way = await wayTo(files, relocation)
  if (isAsWritten) return { relocation, way }
  const target = await onFoundWay(files, relocation.site, relocation.target, way)
  if (target === relocation.target) return { relocation, way }
  const found = { ...relocation, target }
  return { relocation: found, way: await wayTo(files, found) }
}

/** What the path names: the live file, or a folder. A page that has a draft alone is not there. */
const sourceOf = (key: string, ofFile: readonly Change[], changes: readonly Change[]): Source => {
  const live = ofFile.filter(isTransfer).find(({ from }) => from.key === key)
  return live?.from ?? (ofFile.length === 0 && changes.length > 0 ? 'folder' : undefined)
}

type IsRunning = (path: StoragePath) => Promise<boolean>

/** What it is may refuse to be moved; a copy leaves it as it is. Errors: folderReserved, workflowUpdated. */
const refuseMove = async (path: StoragePath, isReserved: boolean, isRunning: IsRunning): Promise<void> => {
  if (isReserved) throw new ServiceError('folderReserved')
  if (await isRunning(path)) throw new ServiceError('workflowUpdated')
}

/** Errors: destinationExists (a copy onto itself), urlInvalid (into itself, or a path that becomes too long). */
const isOntoItself = ({ kind, path, target }: Relocation): boolean => {
  if (target.startsWith(`${path}/`)) {
    throw new ServiceError('urlInvalid', { message: 'Nothing can be moved or copied into itself, or below itself.' })
  }
  if (target === path && kind === 'copy') throw new ServiceError('destinationExists')
  return target === path
}

/** One attempt. Answers false when something has changed under its hands. */
const attempt = async (
  deps: RelocateDeps,
  { relocation, way }: Settled,
  { author, remainingTime, conditions }: Requester,
): Promise<boolean> => {
  const { kind, site, path, target } = relocation
  const { files, workflows, removals, clock, reservedFolders } = deps
  const ofFile = await transfersOfFile(files, relocation)
  const isFile = ofFile.length > 0
  const changes = isFile ? ofFile : await transfersOfFolder(files, relocation)
  const matching = expectSource(conditions, sourceOf(fileKey('live', site, path), ofFile, changes))
  if (changes.length === 0) throw new ServiceError('fileUnknown')
  const isRunning: IsRunning = (place) =>
    isFile ? workflows.isRunning(site, [place]) : workflows.isRunningBelow(site, place)
  if (kind === 'move') await refuseMove(path, !isFile && reservedFolders.includes(path), isRunning)
  if (isOntoItself(relocation)) return true
  checkLengths(changes)
  const isTargetRunning = await isRunning(target)
  const absent: Absences = [
    [fileKey('live', site, target), 'destinationExists'],
    [fileKey('draft', site, target), 'destinationExists'],
    [folderKey('live', site, target), 'destinationExists'],
  ]
  const templates = templatesAmong(site, changes)
  if (isTargetRunning || templates.length > 0) await refuseRivals(deps, [...absent, ...noFileFor(site, way)])
  // Whoever starts the workflow of a page may do so before the page is there.
  if (isTargetRunning) throw new ServiceError('workflowUpdated')
  await checkTemplates(files, site, templates, () => {
    if (remainingTime() < timeToMove) throw tooMuch(kind)
  })
  const type = kind === 'copy' ? 'file.copied' : 'file.moved'
  const entry = { ...author, site, type, subject: path, details: { to: target } } as const
  const placement = { site, paths: [path, target], changes, absent, matching, remainingTime, entry }
  const from = clock.wall()
  const outcome = await putInPlace(deps, onWay(way, placement))
  // A folder that was moved away counts as removed at its old place.
  if (outcome === 'placed' && kind === 'move' && !isFile)
    await noteRemoval(removals, site, path, { from, to: clock.wall() })
  if (outcome === 'late') throw kind === 'move' && isFile ? new ServiceError('unavailable') : tooMuch(kind)
  return outcome === 'placed'
}

/** As written, but for the folders on the way to the target. Errors: as of `relocate`. */
const relocateFrom = async (deps: RelocateDeps, wanted: Relocation, requester: Requester): Promise<void> => {
  const { files, removals } = deps
  const { site, path } = wanted
  const settled = await settle(files, wanted, requester.isAsWritten)
  const { relocation } = settled
  await refuseGoing(removals, site, [path, relocation.target])
  const going = [path, relocation.target].map((folder) => removals.isOpenBelow(site, folder))
  if ((await Promise.all(going)).includes(true)) throw new ServiceError('folderGoing')
  let next = settled
  for (let count = 0; count < mostAttempts; count++) {
    if (await attempt(deps, next, requester)) return
    next = await settle(files, relocation, true)
  }
  throw new ServiceError('unavailable')
}

/**
 * Gives a file or a folder another name or another place, with its drafts; or copies what is live of it. The folders on the way are
 * created. All of it becomes visible at once, or nothing (decisions.md, section 5, "Raw upload"). Errors: nameRequired, urlInvalid, nameTooLong,
 * conditionFailed, folderReserved, fileUnknown, pathUnknown (a folder on the way is a file), destinationExists, workflowUpdated, folderGoing,
 * storageRefused (more than can be done in that time), unavailable, those of a template.
 */
export const relocate = async (
  deps: RelocateDeps,
  site: SiteId,
  path: StoragePath,
  destination: Destination,
  requester: Requester,
): Promise<void> => {
  try {
    await relocateFrom(deps, { site, path, ...wantedOf(path, destination) }, requester)
  } catch (error) {
    const isMissing = error instanceof ServiceError && error.code === errors.fileUnknown.code
    if (!isMissing || requester.isAsWritten) throw error
    const found = await inStandingFolder(deps.files, site, path)
    if (found === path) throw error
    await relocateFrom(deps, { site, path: found, ...wantedOf(found, destination) }, requester)
  }
}
