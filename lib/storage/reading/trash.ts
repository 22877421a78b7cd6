import type { SiteId } from '../../core/ids.ts'
import { findRemoved, newestKept, type RemovedStores } from '../changes/restore.ts'
import { fileKey, folderKey, type StoragePath } from '../path.ts'

interface TrashItem {
  readonly size: number | null
  /** In milliseconds since the epoch. Undefined if the store knows a folder only by its contents. */
  readonly goneAt: number | undefined
}

const findFile = async (stores: RemovedStores, site: SiteId, path: StoragePath): Promise<TrashItem | undefined> => {
  const { isFile, isPresent, restorations, goneAt } = await findRemoved(stores, site, path)
  const [last] = restorations
  return isFile && !isPresent && last ? { size: last.size, goneAt } : undefined
}

/**
 * A removed file or folder that a restore can bring back. Undefined if the path exists again, or if the file or folder
 * is no longer kept. If a path was removed as a file and as a folder, a restore brings back the later removal.
 */
export const findInTrash = async (
  stores: RemovedStores,
  site: SiteId,
  path: StoragePath,
  type: 'file' | 'folder',
): Promise<TrashItem | undefined> => {
  if (type === 'file') return findFile(stores, site, path)
  const { files } = stores
  const folder = folderKey('live', site, path)
  const [{ kept }, isBack] = await Promise.all([newestKept(files, folder), files.exists(folder)])
  if (isBack) return undefined
  const file = await newestKept(files, fileKey('live', site, path))
  const since = kept?.goneAt ?? Number.POSITIVE_INFINITY
  if (!file.isPresent && (file.kept?.goneAt ?? 0) > since) return undefined
  const item = { size: null, goneAt: kept?.goneAt }
  if (kept) return item
  const { entries, next } = await files.listRemoved({ prefix: folder, limit: 1 })
  return entries.length > 0 || next !== undefined ? item : undefined
}
