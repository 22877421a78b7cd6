import { ServiceError } from '../errors.ts'
import type { Author } from '../history-entry.ts'
import type { SiteId } from '../ids.ts'
import { fileKey, folderKey, root, type StoragePath } from './path.ts'
import { foldersOnTheWay, noFileOnTheWay, putInPlace, type StorageStores } from './put-in-place.ts'

/** Creates a folder with all that it lies in; one that is there already is fine. Errors: nameRequired, pathUnknown, destinationExists, folderGoing. */
export const createFolder = async (
  stores: StorageStores,
  site: SiteId,
  path: StoragePath,
  author: Author,
): Promise<void> => {
  if (path === root) throw new ServiceError('nameRequired')
  await putInPlace(stores, {
    site,
    paths: [path],
    changes: [...foldersOnTheWay(site, path), { kind: 'folder', key: folderKey('live', site, path) }],
    absent: [...noFileOnTheWay(site, path), [fileKey('live', site, path), 'destinationExists']],
    entry: { ...author, site, type: 'folder.created', subject: path },
  })
}
