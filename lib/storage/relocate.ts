import type { Clock } from '../core/clock.ts'
import { errors, ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { expectSource, type Source } from './conditions.ts'
import {
  type Absences,
  mostAttempts,
  noFileAt,
  place,
  type Requester,
  refuseOccupied,
  refuseRemovals,
  type StorageStores,
} from './engine.ts'
import { noteRemoval } from './folder-removals.ts'
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
import { type Ancestors, findAncestors, resolveParent, resolvePath } from './resolve-path.ts'
import { checkLengths, isTransfer, type Relocation, tooMuch, transfersOfFile, transfersOfFolder } from './transfers.ts'

export interface RelocateDeps extends StorageStores {
  readonly clock: Clock
  readonly reservedFolders: readonly string[]
}

/**
 * Another name in the same folder; another path; or the path of a copy. Paths are plain text, and may begin with
 * slashes.
 */
export type Destination = { readonly name: string } | { readonly path: string } | { readonly copyTo: string }

/** Time reserved for moving the templates after they are checked, in milliseconds. */
const timeToMove = 12_000

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

interface Settled {
  readonly relocation: Relocation
  readonly ancestors: Ancestors
}

const ancestorsOfTarget = async (files: ObjectStore, { site, path, target }: Relocation): Promise<Ancestors> =>
  // A target beside the source needs no folder.
  parentOf(target) === parentOf(path)
    ? { existing: undefined, missing: [] }
    : findAncestors(files, site, ancestorsOf(target))

const settle = async (files: ObjectStore, relocation: Relocation, isAsWritten = false): Promise<Settled> => {
  const ancestors = await ancestorsOfTarget(files, relocation)
  if (isAsWritten) return { relocation, ancestors }
  const target = await resolvePath(files, relocation.site, relocation.target, ancestors)
  return target === relocation.target ? { relocation, ancestors } : settle(files, { ...relocation, target }, true)
}

const sourceOf = (key: string, ofFile: readonly Change[], changes: readonly Change[]): Source => {
  const live = ofFile.filter(isTransfer).find(({ from }) => from.key === key)
  return live?.from ?? (ofFile.length === 0 && changes.length > 0 ? 'folder' : undefined)
}

type IsRunning = (path: StoragePath) => Promise<boolean>

const refuseMove = async (path: StoragePath, isReserved: boolean, isRunning: IsRunning): Promise<void> => {
  if (isReserved) throw new ServiceError('folderReserved')
  if (await isRunning(path)) throw new ServiceError('workflowUpdated')
}

const isOntoItself = ({ kind, path, target }: Relocation): boolean => {
  if (target.startsWith(`${path}/`)) {
    throw new ServiceError('urlInvalid', { message: 'Nothing can be moved or copied into itself, or below itself.' })
  }
  if (target === path && kind === 'copy') throw new ServiceError('destinationExists')
  return target === path
}

const attempt = async (
  deps: RelocateDeps,
  { relocation, ancestors }: Settled,
  requester: Requester,
): Promise<boolean> => {
  const { kind, site, path, target } = relocation
  const { remainingTime, conditions } = requester
  const { files, workflows, removals, clock, reservedFolders } = deps
  const ofFile = await transfersOfFile(files, relocation)
  const isFile = ofFile.length > 0
  const changes = isFile ? ofFile : await transfersOfFolder(files, relocation)
  const matching = expectSource(conditions, sourceOf(fileKey('live', site, path), ofFile, changes))
  if (changes.length === 0) throw new ServiceError('fileUnknown')
  const isRunning: IsRunning = (one) =>
    isFile ? workflows.isRunning(site, [one]) : workflows.isRunningBelow(site, one)
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
  if (isTargetRunning || templates.length > 0)
    await refuseOccupied(deps, [...absent, ...noFileAt(site, ancestors.missing)])
  // Whoever starts the workflow of a page may do so before the page is there.
  if (isTargetRunning) throw new ServiceError('workflowUpdated')
  await checkTemplates(files, site, templates, () => {
    if (remainingTime() < timeToMove) throw tooMuch(kind)
  })
  const type = kind === 'copy' ? 'file.copied' : 'file.moved'
  const entry = { type, subject: path, details: { to: target } } as const
  const from = clock.wall()
  const plan = { site, paths: [path, target], changes, absent, matching, entry }
  const outcome = await place(deps, plan, requester, ancestors)
  // A folder that was moved away counts as removed at its old place.
  if (outcome === 'placed' && kind === 'move' && !isFile)
    await noteRemoval(removals, site, path, { from, to: clock.wall() })
  if (outcome === 'late') throw kind === 'move' && isFile ? new ServiceError('unavailable') : tooMuch(kind)
  return outcome === 'placed'
}

const relocateFrom = async (deps: RelocateDeps, wanted: Relocation, requester: Requester): Promise<void> => {
  const { files, removals } = deps
  const { site, path } = wanted
  const settled = await settle(files, wanted, requester.isAsWritten)
  const { relocation } = settled
  await refuseRemovals(removals, site, [path, relocation.target])
  const below = [path, relocation.target].map((folder) => removals.isOpenBelow(site, folder))
  if ((await Promise.all(below)).includes(true)) throw new ServiceError('folderGoing')
  let next = settled
  for (let count = 0; count < mostAttempts; count++) {
    if (await attempt(deps, next, requester)) return
    next = await settle(files, relocation, true)
  }
  throw new ServiceError('unavailable')
}

/**
 * Renames, moves or copies a file or folder (S-51 to S-59). All of it becomes visible at once, or nothing. Errors:
 * nameRequired, urlInvalid, nameTooLong, conditionFailed, folderReserved, fileUnknown, pathUnknown (an ancestor of the
 * target is a file), destinationExists, workflowUpdated, folderGoing, storageRefused (too much for one request),
 * unavailable, those of a template.
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
    const found = await resolveParent(deps.files, site, path)
    if (found === path) throw error
    await relocateFrom(deps, { site, path: found, ...wantedOf(found, destination) }, requester)
  }
}
