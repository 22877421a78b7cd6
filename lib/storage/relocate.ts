import type { Clock } from '../core/clock.ts'
import { reserves } from '../core/deadline.ts'
import { type ErrorName, errors, ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { expectSource, type Source } from './conditions.ts'
import {
  type Absences,
  allInOrder,
  findOccupied,
  noFileAt,
  type Placed,
  type Plan,
  place,
  type Requester,
  refuseRemovals,
  retry,
  type StorageStores,
} from './engine.ts'
import type { Change, Expected, ObjectStore } from './object-store.ts'
import {
  ancestorsOf,
  childOf,
  fileKey,
  folderKey,
  isReserved,
  parentOf,
  parseName,
  root,
  type StoragePath,
  toStoragePath,
} from './path.ts'
import { type Ancestors, findAncestors, resolveParent, resolvePath } from './resolve-path.ts'
import {
  checkTemplates,
  hasLongPath,
  isTransfer,
  type Relocation,
  templatesAmong,
  tooMuch,
  transfersOfFile,
  transfersOfFolder,
} from './transfers.ts'

export interface RelocateDeps extends StorageStores {
  readonly clock: Clock
  readonly reservedFolders: readonly string[]
}

export type Destination = { readonly name: string } | { readonly path: string } | { readonly copyTo: string }

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

const settle = async (files: ObjectStore, relocation: Relocation, isCaseSensitive = false): Promise<Settled> => {
  const ancestors = await ancestorsOfTarget(files, relocation)
  if (isCaseSensitive) return { relocation, ancestors }
  const target = await resolvePath(files, relocation.site, relocation.target, ancestors)
  return target === relocation.target ? { relocation, ancestors } : settle(files, { ...relocation, target }, true)
}

const sourceOf = (key: string, ofFile: readonly Change[], changes: readonly Change[]): Source => {
  const live = ofFile.filter(isTransfer).find(({ from }) => from.key === key)
  return live?.from ?? (ofFile.length === 0 && changes.length > 0 ? 'folder' : undefined)
}

interface Seen {
  readonly changes: readonly Change[]
  readonly isReserved: boolean
  readonly isSourceInWorkflow: boolean
  readonly isTargetInWorkflow: boolean
  // Looked up for a target in a workflow and for templates.
  readonly occupied?: ErrorName | undefined
}

const fault = (name: ErrorName, message?: string) => new ServiceError(name, message === undefined ? {} : { message })

export const refusalOfRelocation = ({ kind, path, target }: Relocation, seen: Seen): ServiceError | undefined => {
  if (kind === 'move' && seen.isReserved) return fault('folderReserved')
  if (kind === 'move' && seen.isSourceInWorkflow) return fault('workflowUpdated')
  if (target.startsWith(`${path}/`)) return fault('urlInvalid', 'The new place is inside the moved or copied folder.')
  if (target === path) return kind === 'copy' ? fault('destinationExists') : undefined
  if (hasLongPath(seen.changes)) return fault('urlInvalid', 'In the new place, the path of a file becomes too long.')
  if (seen.occupied) return fault(seen.occupied)
  return seen.isTargetInWorkflow ? fault('workflowUpdated') : undefined
}

const planRelocation = (relocation: Relocation, changes: readonly Change[], matching: readonly Expected[]): Plan => {
  const { kind, site, path, target } = relocation
  const absent: Absences = [
    [fileKey('live', site, target), 'destinationExists'],
    [fileKey('draft', site, target), 'destinationExists'],
    [folderKey('live', site, target), 'destinationExists'],
  ]
  const type = kind === 'copy' ? 'file.copied' : 'file.moved'
  const entry = { type, subject: path, details: { to: target } } as const
  return { site, paths: [path, target], changes, absent, matching, entry }
}

const attempt = async (
  deps: RelocateDeps,
  { relocation, ancestors }: Settled,
  requester: Requester,
): Promise<Placed> => {
  const { kind, site, path, target } = relocation
  const { deadline, conditions } = requester
  const { files, workflows, clock, reservedFolders } = deps
  const ofFile = await transfersOfFile(files, relocation)
  const isFile = ofFile.length > 0
  const changes = isFile ? ofFile : await transfersOfFolder(files, relocation)
  const matching = expectSource(conditions, sourceOf(fileKey('live', site, path), ofFile, changes))
  if (changes.length === 0) throw new ServiceError('fileUnknown')
  const plan = planRelocation(relocation, changes, matching)
  const isRunning = (one: StoragePath): Promise<boolean> =>
    isFile ? workflows.isRunning(site, [one]) : workflows.isRunningBelow(site, one)
  // A workflow may start before its page exists, so the target may have one.
  const [isSourceInWorkflow, isTargetInWorkflow] = await allInOrder([
    kind === 'move' ? isRunning(path) : Promise.resolve(false),
    target === path ? Promise.resolve(false) : isRunning(target),
  ])
  const templates = templatesAmong(site, changes)
  const looksAtTarget = target !== path && (isTargetInWorkflow || templates.length > 0)
  const occupied = looksAtTarget
    ? await findOccupied(deps, [...plan.absent, ...noFileAt(site, ancestors.missing)])
    : undefined
  const refusal = refusalOfRelocation(relocation, {
    changes,
    isReserved: !isFile && isReserved(reservedFolders, path),
    isSourceInWorkflow,
    isTargetInWorkflow,
    occupied,
  })
  if (refusal) throw refusal
  if (target === path) return 'placed'
  await checkTemplates(files, site, templates, () => {
    if (deadline.timeLeft() < reserves.templates) throw tooMuch(kind)
  })
  // A folder that was moved away counts as removed at its old place.
  const removedFolder = kind === 'move' && !isFile ? { site, folder: path, since: clock.wall() } : undefined
  const outcome = await place(deps, { ...plan, removedFolder }, requester, ancestors)
  if (outcome === 'late' && !(kind === 'move' && isFile)) throw tooMuch(kind)
  return outcome
}

const relocateFrom = async (deps: RelocateDeps, wanted: Relocation, requester: Requester): Promise<void> => {
  const { files, removals } = deps
  const { site, path } = wanted
  let settled: Settled | undefined = await settle(files, wanted, requester.isCaseSensitive)
  const { relocation } = settled
  await refuseRemovals(removals, site, [path, relocation.target])
  const below = [path, relocation.target].map((folder) => removals.isOpenBelow(site, folder))
  if ((await Promise.all(below)).includes(true)) throw new ServiceError('folderLocked')
  await retry(async () => {
    const next = settled ?? (await settle(files, relocation, true))
    settled = undefined
    return attempt(deps, next, requester)
  })
}

/**
 * Renames, moves or copies a file or folder, all or nothing (S-51 to S-59). Errors: nameRequired, urlInvalid,
 * nameTooLong, conditionFailed, folderReserved, fileUnknown, pathUnknown, destinationExists, workflowUpdated,
 * folderLocked, storageRefused (too large), unavailable, those of a template.
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
    if (!isMissing || requester.isCaseSensitive) throw error
    const found = await resolveParent(deps.files, site, path)
    if (found === path) throw error
    await relocateFrom(deps, { site, path: found, ...wantedOf(found, destination) }, requester)
  }
}
