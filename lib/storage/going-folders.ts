import { ServiceError } from '../errors.ts'
import type { SiteId } from '../ids.ts'
import type { FolderRemovals } from './folder-removals.ts'
import { ancestorsOf, root, type StoragePath } from './path.ts'

/** Every folder that the paths lie in, or may be. */
export const foldersAround = (paths: readonly StoragePath[]): readonly StoragePath[] =>
  [...new Set(paths.flatMap((path) => [...ancestorsOf(path), path]))].filter((path) => path !== root)

/** Refuses early, before a body is read, what would be refused when it is put in place. Errors: folderGoing. */
export const refuseGoing = async (
  removals: FolderRemovals,
  site: SiteId,
  paths: readonly StoragePath[],
): Promise<void> => {
  if ((await removals.openOf(site, foldersAround(paths))).length > 0) throw new ServiceError('folderGoing')
}
