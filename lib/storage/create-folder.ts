import { ServiceError } from '../errors.ts'
import type { SiteId } from '../ids.ts'
import { fileKey, folderKey, root, type StoragePath } from './path.ts'
import { foldersOnTheWay, noFileOnTheWay, putInTime, type Requester, type StorageStores } from './put-in-place.ts'

/** Creates a folder with all that it lies in; one that is there already is fine. Errors: nameRequired, pathUnknown, destinationExists, folderGoing, unavailable. */
export const createFolder = async (
  stores: StorageStores,
  site: SiteId,
  path: StoragePath,
  { author, remainingTime }: Requester,
): Promise<void> => {
  if (path === root) throw new ServiceError('nameRequired')
  await putInTime(stores, {
    site,
    paths: [path],
    changes: [...foldersOnTheWay(site, path), { kind: 'folder', key: folderKey('live', site, path) }],
    absent: [...noFileOnTheWay(site, path), [fileKey('live', site, path), 'destinationExists']],
    remainingTime,
    entry: { ...author, site, type: 'folder.created', subject: path },
  })
}
