import { type ErrorName, ServiceError } from '../errors.ts'
import type { SiteId } from '../ids.ts'
import { watchFolders } from './going-folders.ts'
import { fileKey, folderKey } from './keys.ts'
import type { Change, ObjectStore } from './object-store.ts'
import type { PagesTable } from './pages-table.ts'
import { ancestorsOf, type StoragePath } from './path.ts'

/** What the operations of the storage work on. */
export interface StorageStores {
  readonly store: ObjectStore
  readonly pages: PagesTable
}

/** Keys where nothing may be, each with the error for what is there all the same. */
export type Absences = readonly (readonly [key: string, error: ErrorName])[]

export interface Placement {
  readonly site: SiteId
  /** What must neither lie in a folder that is being removed, nor be one. */
  readonly paths: readonly StoragePath[]
  readonly changes: readonly Change[]
  readonly absent: Absences
  /** Asked again and again: when it says so, everything is taken back. */
  readonly isTimeUp?: () => boolean
}

/** A folder on the way must not be a file. */
export const noFileOnTheWay = (site: SiteId, path: StoragePath): Absences =>
  ancestorsOf(path).map((ancestor) => [fileKey('live', site, ancestor), 'pathUnknown'])

export const foldersOnTheWay = (site: SiteId, path: StoragePath): Change[] =>
  ancestorsOf(path).map((ancestor) => ({ kind: 'folder', key: folderKey('live', site, ancestor) }))

/**
 * Makes changes visible together, when nothing stands in their way and no folder that they go into is being removed. What another one
 * does at the very same time is found by the second look, and the changes are taken back then. Nothing is changed either when something to
 * be moved has changed since it was listed (`stale`), or the time was up (`late`). Errors: folderGoing, those of `absent`.
 */
export const putInPlace = async (
  { store, pages }: StorageStores,
  { site, paths, changes, absent, isTimeUp }: Placement,
): Promise<'placed' | 'stale' | 'late'> => {
  const watch = await watchFolders(pages, site, paths)
  const placed = await store.place(
    changes,
    absent.map(([key]) => key),
    isTimeUp,
  )
  if (placed.outcome === 'stale' || placed.outcome === 'late') return placed.outcome
  if (placed.outcome === 'rival') {
    throw new ServiceError(absent.find(([key]) => key === placed.key)?.[1] ?? 'destinationExists')
  }
  let changed: boolean
  try {
    changed = await watch.hasChanged()
  } catch (error) {
    await placed.undo()
    throw error
  }
  if (changed) {
    await placed.undo()
    throw new ServiceError('folderGoing')
  }
  await placed.settle()
  return 'placed'
}

/** Refuses early, before a body is read, what putInPlace would refuse in the end. */
export const refuseRivals = async ({ store }: StorageStores, absent: Absences): Promise<void> => {
  const found = await Promise.all(
    absent.map(([key]) => (key.endsWith('/') ? store.exists(key) : store.find(key).then((info) => info !== undefined))),
  )
  const rival = absent.find((_, index) => found[index])
  if (rival) throw new ServiceError(rival[1])
}
