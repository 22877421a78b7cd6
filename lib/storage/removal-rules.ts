import { type ErrorName, ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import type { StorageStores } from './engine.ts'
import { isPage } from './file-kind.ts'
import type { OpenRemoval } from './folder-removals.ts'
import { root, type StoragePath } from './path.ts'

interface SeenRemoval {
  readonly path: StoragePath
  readonly open: readonly OpenRemoval[]
  /** Empty for a file. */
  readonly reservedFolders: readonly string[]
}

export const refusalOf = ({ path, open, reservedFolders }: SeenRemoval): ErrorName | undefined => {
  if (path === root) return 'nameRequired'
  // A removal of this very folder continues when it is requested again.
  if (open.some((removal) => removal.path !== path || removal.isHold)) return 'folderGoing'
  return reservedFolders.includes(path) ? 'folderReserved' : undefined
}

export const refusalOfWorkflow = async (
  { workflows }: Pick<StorageStores, 'workflows'>,
  site: SiteId,
  path: StoragePath,
  isFile: boolean,
): Promise<ErrorName | undefined> => {
  const isRunning = isFile
    ? isPage(path) && (await workflows.isRunning(site, [path]))
    : await workflows.isRunningBelow(site, path)
  return isRunning ? 'workflowDeleted' : undefined
}

export const throwRefusal = (refusal: ErrorName | undefined): void => {
  if (refusal) throw new ServiceError(refusal)
}
