import type { SiteId } from '../../core/ids.ts'
import type { ObjectStore } from '../object-store.ts'
import { fileKey, folderKey, type StoragePath } from '../path.ts'

export interface TrashItem {
  readonly path: StoragePath
  readonly type: 'file' | 'folder'
  readonly size: number | null
  /** In milliseconds since the epoch. Undefined if the store knows a folder only by its contents. */
  readonly goneAt: number | undefined
}

/**
 * A removed file or folder that a restore can bring back. Undefined if the path exists again, or if the file or folder
 * is no longer kept.
 */
export const findInTrash = async (
  files: ObjectStore,
  site: SiteId,
  { path, type }: Pick<TrashItem, 'path' | 'type'>,
): Promise<TrashItem | undefined> => {
  const folder = folderKey('live', site, path)
  const key = type === 'folder' ? folder : fileKey('live', site, path)
  const [kept, isBack] = await Promise.all([
    files.versions(key, { limit: 1 }),
    type === 'folder' && files.exists(folder),
  ])
  const [last] = kept?.versions ?? []
  if (isBack || last?.isCurrent) return undefined
  if (last) return { path, type, size: type === 'folder' ? null : last.size, goneAt: last.goneAt }
  if (type === 'file') return undefined
  const { entries, next } = await files.listRemoved({ prefix: folder, limit: 1 })
  return entries.length > 0 || next !== undefined ? { path, type, size: null, goneAt: undefined } : undefined
}
