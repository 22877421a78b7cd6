import type { SiteId } from '../../core/ids.ts'
import { isAnyRemoved } from '../changes/restore-folder.ts'
import { isPage } from '../file-kind.ts'
import type { ObjectStore, ObjectVersion } from '../object-store.ts'
import { editions, fileKey, folderKey, foldersAround, type StoragePath } from '../path.ts'
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

const newestOf = async (files: ObjectStore, keys: readonly string[]): Promise<ObjectVersion | undefined> => {
  for (const key of keys) {
    const { versions: [newest] = [] } = (await files.versions(key, { limit: 1 })) ?? {}
    if (newest) return newest
  }
  return undefined
}

const isRemovedAsFolder = async ({ files, removals }: Stores, site: SiteId, path: StoragePath, since = 0) => {
  const periods = await removals.lastOf(site, foldersAround([path]))
  return isAnyRemoved(files, site, path, periods, since)
}

const isRemovedAsFile = async (
  { files }: Stores,
  site: SiteId,
  path: StoragePath,
  since = Number.POSITIVE_INFINITY,
) => {
  const last = await newestOf(files, [fileKey('live', site, path)])
  return (last?.goneAt ?? 0) > since
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
  const { files } = stores
  const folder = folderKey('live', site, path)
  // A page may have had only a draft.
  const keys = editions.map((edition) => fileKey(edition, site, path)).slice(0, isPage(path) ? 2 : 1)
  const [last, isBack] = await Promise.all([
    newestOf(files, type === 'folder' ? [folder] : keys),
    type === 'folder' && files.exists(folder),
  ])
  if (isBack || last?.isCurrent || (type === 'file' && !last)) return undefined
  const isOlder = type === 'folder' ? isRemovedAsFile : isRemovedAsFolder
  if (await isOlder(stores, site, path, last?.goneAt)) return undefined
  if (last) return { path, type, size: type === 'folder' ? null : last.size, goneAt: last.goneAt }
  const { entries, next } = await files.listRemoved({ prefix: folder, limit: 1 })
  return entries.length > 0 || next !== undefined ? { path, type, size: null, goneAt: undefined } : undefined
}
