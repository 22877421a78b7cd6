import type { SiteId } from '../../core/ids.ts'
import { newestKept, newestRemoved } from '../changes/restore.ts'
import { isAnyRemoved } from '../changes/restore-folder.ts'
import type { ObjectStore } from '../object-store.ts'
import { fileKey, folderKey, foldersAround, type StoragePath } from '../path.ts'
import type { FolderRemovals } from '../path-locks.ts'

interface Stores {
  readonly files: ObjectStore
  readonly removals: Pick<FolderRemovals, 'lastOf'>
}

export interface TrashItem {
  readonly path: StoragePath
  readonly type: 'file' | 'folder'
  readonly size: number | null
  /** In milliseconds since the epoch. Undefined if the store knows a folder only by its contents. */
  readonly goneAt: number | undefined
}

const isRemovedAsFolder = async ({ files, removals }: Stores, site: SiteId, path: StoragePath, since: number) => {
  const periods = await removals.lastOf(site, foldersAround([path]))
  return isAnyRemoved(files, site, path, periods, since)
}

const isRemovedAsFile = async (
  { files }: Stores,
  site: SiteId,
  path: StoragePath,
  since = Number.POSITIVE_INFINITY,
) => {
  const { kept, isPresent } = await newestKept(files, fileKey('live', site, path))
  return !isPresent && (kept?.goneAt ?? 0) > since
}

const findFile = async (stores: Stores, site: SiteId, path: StoragePath): Promise<TrashItem | undefined> => {
  const { restorations, isPresent, goneAt } = await newestRemoved(stores.files, site, path)
  const [last] = restorations
  if (!last || isPresent || (await isRemovedAsFolder(stores, site, path, goneAt))) return undefined
  return { path, type: 'file', size: last.size, goneAt }
}

/**
 * A removed file or folder that a restore can bring back. Undefined if the path exists again, or if the file or folder
 * is no longer kept. If a path was removed as a file and as a folder, a restore brings back the later removal.
 */
export const findInTrash = async (
  stores: Stores,
  site: SiteId,
  { path, type }: Pick<TrashItem, 'path' | 'type'>,
): Promise<TrashItem | undefined> => {
  if (type === 'file') return findFile(stores, site, path)
  const { files } = stores
  const folder = folderKey('live', site, path)
  const [{ kept }, isBack] = await Promise.all([newestKept(files, folder), files.exists(folder)])
  if (isBack || (await isRemovedAsFile(stores, site, path, kept?.goneAt))) return undefined
  const item = { path, type, size: null, goneAt: kept?.goneAt }
  if (kept) return item
  const { entries, next } = await files.listRemoved({ prefix: folder, limit: 1 })
  return entries.length > 0 || next !== undefined ? item : undefined
}
