import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { carryOut, type Plan, type Requester, resolve, type StorageStores } from './engine.ts'
import { ancestorsOf, fileKey, folderKey, root, type StoragePath } from './path.ts'

const planFolder = (site: SiteId, path: StoragePath): Plan => ({
  site,
  paths: [path],
  changes: [{ kind: 'folder', key: folderKey('live', site, path) }],
  absent: [[fileKey('live', site, path), 'destinationExists']],
  entry: { type: 'folder.created', subject: path },
})

/** S-49. An existing folder stays. Errors: nameRequired, pathUnknown, destinationExists, folderLocked, unavailable. */
export const createFolder = async (
  stores: StorageStores,
  site: SiteId,
  wanted: StoragePath,
  requester: Requester,
): Promise<void> => {
  if (wanted === root) throw new ServiceError('nameRequired')
  const { path, ancestors } = await resolve(stores, { site, path: wanted }, requester.isCaseSensitive, async () => {})
  await carryOut(stores, planFolder(site, path), requester, ancestorsOf(path), ancestors)
}
