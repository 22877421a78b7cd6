import type { ErrorName } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import type { StorageStores } from './engine.ts'
import { isPage } from './file-kind.ts'
import type { OpenRemoval } from './folder-removals.ts'
import type { ObjectInfo } from './object-store.ts'
import { ancestorsOf, fileKey, root, type StoragePath } from './path.ts'

export interface Found {
  readonly live: ObjectInfo | undefined
  readonly draft: ObjectInfo | undefined
}

interface Seen {
  readonly path: StoragePath
  readonly open: readonly OpenRemoval[]
  readonly isReserved?: boolean
  readonly isNotEmpty?: boolean
  readonly isInWorkflow?: boolean
}

/** The refusals of a removal and of its preview, in the order of their checks. */
export const refusalOf = (seen: Seen): ErrorName | undefined => {
  if (seen.path === root) return 'nameRequired'
  // A removal of this very folder continues when it is requested again.
  if (seen.open.some(({ path, isHold }) => path !== seen.path || isHold)) return 'folderLocked'
  if (seen.isReserved) return 'folderReserved'
  if (seen.isNotEmpty) return 'folderNotEmpty'
  return seen.isInWorkflow ? 'workflowDeleted' : undefined
}

export const openRemovals = (
  { removals }: Pick<StorageStores, 'removals'>,
  site: SiteId,
  path: StoragePath,
): Promise<readonly OpenRemoval[]> => removals.openOf(site, path === root ? [] : [...ancestorsOf(path), path])

export const findFile = async (
  { files }: Pick<StorageStores, 'files'>,
  site: SiteId,
  path: StoragePath,
): Promise<Found> => {
  const [live, draft] = await Promise.all([
    path === root ? undefined : files.find(fileKey('live', site, path)),
    isPage(path) ? files.find(fileKey('draft', site, path)) : undefined,
  ])
  return { live, draft }
}

export const isInWorkflow = async (
  { workflows }: Pick<StorageStores, 'workflows'>,
  site: SiteId,
  path: StoragePath,
  isFile: boolean,
): Promise<boolean> =>
  isFile ? isPage(path) && workflows.isRunning(site, [path]) : workflows.isRunningBelow(site, path)
