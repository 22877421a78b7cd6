import { type ErrorName, ServiceError } from '../errors.ts'
import type { Author, HistoryEntry } from '../history-entry.ts'
import type { SiteId } from '../ids.ts'
import type { FolderRemovals } from './folder-removals.ts'
import type { Change, ObjectStore, RemainingTime } from './object-store.ts'
import { ancestorsOf, fileKey, folderKey, root, type StoragePath } from './path.ts'
import type { Workflows } from './workflows.ts'

/** What the operations of the storage work on. */
export interface StorageStores {
  readonly files: ObjectStore
  readonly workflows: Workflows
  readonly removals: FolderRemovals
}

/** Who asks for a change, and how long he still waits for it. */
export interface Requester {
  readonly author: Author
  readonly remainingTime: RemainingTime
}

/** Keys where nothing may be, each with the error for what is there all the same. */
export type Absences = readonly (readonly [key: string, error: ErrorName])[]

export interface Placement {
  readonly site: SiteId
  /** What must neither lie in a folder that is being removed, nor be one. */
  readonly paths: readonly StoragePath[]
  readonly changes: readonly Change[]
  readonly absent: Absences
  readonly remainingTime: RemainingTime
  readonly entry: HistoryEntry
}

/** A folder on the way must not be a file. */
export const noFileOnTheWay = (site: SiteId, path: StoragePath): Absences =>
  ancestorsOf(path).map((ancestor) => [fileKey('live', site, ancestor), 'pathUnknown'])

export const foldersOnTheWay = (site: SiteId, path: StoragePath): Change[] =>
  ancestorsOf(path).map((ancestor) => ({ kind: 'folder', key: folderKey('live', site, ancestor) }))

/** Every folder that the paths lie in, or may be. */
const foldersAround = (paths: readonly StoragePath[]): readonly StoragePath[] =>
  [...new Set(paths.flatMap((path) => [...ancestorsOf(path), path]))].filter((path) => path !== root)

/**
 * Makes changes visible together, when nothing stands in their way and no folder that they go into is being removed. Nothing is
 * changed either when something to be moved has changed since it was listed (`stale`), or the time was up (`late`).
 * Errors: folderGoing, those of `absent`.
 */
export const putInPlace = async (
  { files }: Pick<StorageStores, 'files'>,
  { site, paths, changes, absent, remainingTime, entry }: Placement,
): Promise<'placed' | 'stale' | 'late'> => {
  const conditions = {
    absent: absent.map(([key]) => key),
    staying: { site, folders: foldersAround(paths) },
    remainingTime,
  }
  const result = await files.place(changes, conditions, entry)
  if (result.outcome === 'going') throw new ServiceError('folderGoing')
  if (result.outcome === 'rival') {
    throw new ServiceError(absent.find(([key]) => key === result.key)?.[1] ?? 'destinationExists')
  }
  return result.outcome
}

/** Puts in place what can always be repeated. Errors: those of `putInPlace`, unavailable (the time was up: nothing was changed). */
export const putInTime = async (stores: Pick<StorageStores, 'files'>, placement: Placement): Promise<void> => {
  const outcome = await putInPlace(stores, placement)
  if (outcome !== 'placed') throw new ServiceError('unavailable')
}

/** Refuses early, before a body is read, what putInPlace would refuse in the end. */
export const refuseRivals = async ({ files }: Pick<StorageStores, 'files'>, absent: Absences): Promise<void> => {
  const found = await Promise.all(
    absent.map(([key]) => (key.endsWith('/') ? files.exists(key) : files.find(key).then((info) => info !== undefined))),
  )
  const rival = absent.find((_, index) => found[index])
  if (rival) throw new ServiceError(rival[1])
}

/** Refuses early, before a body is read, what would be refused when it is put in place. Errors: folderGoing. */
export const refuseGoing = async (
  removals: FolderRemovals,
  site: SiteId,
  paths: readonly StoragePath[],
): Promise<void> => {
  if ((await removals.openOf(site, foldersAround(paths))).length > 0) throw new ServiceError('folderGoing')
}
