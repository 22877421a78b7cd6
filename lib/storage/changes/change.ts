import { type ErrorName, ServiceError } from '../../core/errors.ts'
import type { Author, HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import type { Clock, Deadline } from '../../core/time.ts'
import type { Conditions } from '../conditions.ts'
import { isPage } from '../file-kind.ts'
import { findAll } from '../many-objects.ts'
import type { Change, Expected, ObjectStore, PlaceOutcome, RemovableObject, RemovedFolder } from '../object-store.ts'
import { ancestorsOf, editions, fileKey, folderKey, foldersAround, type Scope, type StoragePath } from '../path.ts'
import type { FolderLocks, FolderRemovals, OpenRemoval, Workflows } from '../path-locks.ts'
import type { Ancestors } from '../resolve-path.ts'
import type { Tracking } from '../upload-progress.ts'

export interface StorageStores {
  readonly files: ObjectStore
  readonly workflows: Workflows
  readonly removals: FolderRemovals
}

export interface ChangeDeps extends StorageStores {
  readonly clock: Clock
  readonly reservedFolders: readonly string[]
}

export interface Requester extends Scope {
  readonly author: Author
  readonly deadline: Deadline
  /** If true, the path is taken as written, without a lookup that ignores case (S-7). */
  readonly isCaseSensitive?: boolean
  readonly conditions: Conditions
  readonly progress?: Pick<Tracking, 'complete'>
}

/** Keys that must be free, each with the error to throw if it is taken. */
export type Absences = readonly (readonly [key: string, error: ErrorName])[]

/** A draft occupies its path too (S-112). */
export const noFileAt = (site: SiteId, folders: readonly StoragePath[], error: ErrorName = 'pathUnknown'): Absences =>
  folders.flatMap((folder) => {
    const kinds = isPage(folder) ? editions : (['live'] as const)
    return kinds.map((edition) => [fileKey(edition, site, folder), error] as const)
  })

type Entry = Pick<HistoryEntry, 'type' | 'subject' | 'details'>

export interface Placement {
  /** These paths and their parents must not be locked. */
  readonly paths: readonly StoragePath[]
  readonly changes: readonly Change[]
  readonly absent: Absences
  readonly ancestors?: Ancestors
  readonly matching?: readonly Expected[]
  readonly entry: Entry
  readonly lockId?: string
  readonly seenLocks?: FolderLocks['ids'] | undefined
  readonly removedFolder?: RemovedFolder | undefined
  readonly late?: ServiceError | undefined
}

interface Deletion {
  readonly objects: readonly RemovableObject[]
  /** The keys of a page. If another caller changes one of its objects, the other one may appear. */
  readonly page?: readonly string[] | undefined
  readonly entry: Entry
  readonly removedFolder?: RemovedFolder
}

/** A folder removal that may outlast its request. `open` is set if the removal began in an earlier request. */
export interface FolderRemoval {
  readonly folder: StoragePath
  readonly open?: OpenRemoval
}

export type Plan = Placement | Deletion | FolderRemoval | 'nothing' | ServiceError

const place = async ({ files }: StorageStores, plan: Placement, requester: Requester) => {
  const { site, author, deadline, progress } = requester
  const { paths, changes, absent, matching = [], entry, lockId, seenLocks, removedFolder } = plan
  const { existing, missing = [] }: Partial<Ancestors> = plan.ancestors ?? {}
  const created = missing.map((folder): Change => ({ kind: 'folder', key: folderKey('live', site, folder) }))
  const vacant = [...absent, ...noFileAt(site, missing)]
  const above = existing === undefined ? [] : noFileAt(site, [...ancestorsOf(existing), existing])
  const conditions = {
    absent: vacant.map(([key]) => key),
    unlocked: { site, folders: foldersAround(paths), lockId, seen: seenLocks },
    present: existing === undefined ? [] : [folderKey('live', site, existing)],
    absentIfNew: above.map(([key]) => key),
    matching,
    deadline,
    removedFolder,
  }
  const result: PlaceOutcome = await files.place([...created, ...changes], conditions, { ...author, site, ...entry })
  if (result.outcome === 'locked') throw new ServiceError('folderLocked')
  if (result.outcome === 'late') throw plan.late ?? new ServiceError('unavailable')
  if (result.outcome === 'occupied') {
    throw new ServiceError([...vacant, ...above].find(([key]) => key === result.key)?.[1] ?? 'destinationExists')
  }
  if (result.outcome === 'placed') {
    await Promise.all([result.recorded, progress?.complete()])
    return true
  }
  result.outcome satisfies 'stale' | 'changed'
  return false
}

const mostAttempts = 10

// If another caller has replaced an object meanwhile, this removes the new version, too. Otherwise the listed version
// would become visible again if that caller undid its change. An object that appeared meanwhile has an entry of its own,
// so the removal then needs another one.
const removeObjects = async ({ files }: StorageStores, deletion: Deletion, { author, site, deadline }: Requester) => {
  let left = deletion.objects
  const entry: HistoryEntry = { ...author, site, ...deletion.entry }
  let unwritten: HistoryEntry | undefined = entry
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const options = { entry: unwritten, deadline, removedFolder: deletion.removedFolder }
    const { spared, isStale = false } = await files.remove(left, options)
    if (isStale) return false
    if (spared.size === 0) return true
    if (spared.size < left.length) unwritten = undefined
    left = await findAll(files, new Set([...spared, ...(deletion.page ?? [])]))
    if (left.length === 0) return true
    if (left.some(({ key }) => !spared.has(key))) unwritten = entry
  }
  throw new ServiceError('unavailable')
}

/**
 * Carries out the plan for the state that was seen. If the state has changed, looks and plans again. Without
 * `lookAgain` there is only one attempt. Returns the removal of a folder: it may continue after the request.
 */
export const change = async <Seen>(
  stores: StorageStores,
  first: Seen,
  planFor: (seen: Seen) => Plan,
  requester: Requester,
  lookAgain?: (seen: Seen) => Promise<Seen>,
): Promise<FolderRemoval | undefined> => {
  let seen = first
  for (let attempt = 1; ; attempt++) {
    const plan = planFor(seen)
    if (plan instanceof ServiceError) throw plan
    if (plan === 'nothing') return undefined
    if ('folder' in plan) return plan
    const making = 'objects' in plan ? removeObjects(stores, plan, requester) : place(stores, plan, requester)
    if (await making) return undefined
    if (!lookAgain || attempt === mostAttempts) throw new ServiceError('unavailable')
    seen = await lookAgain(seen)
  }
}
