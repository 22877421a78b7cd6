import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { onFoundWay } from './look-up.ts'
import { ancestorsOf, fileKey, folderKey, root, type StoragePath } from './path.ts'
import { allInOrder, findWay, putOnWay, type Requester, refuseGoing, type StorageStores } from './put-in-place.ts'

/** Creates a folder with all that it lies in; one that is there already is fine. Errors: nameRequired, pathUnknown, destinationExists, folderGoing, unavailable. */
export const createFolder = async (
  stores: StorageStores,
  site: SiteId,
  path: StoragePath,
  requester: Requester,
): Promise<void> => {
  if (path === root) throw new ServiceError('nameRequired')
  const { author, remainingTime, isAsWritten } = requester
  const folders = ancestorsOf(path)
  const [way] = await allInOrder([findWay(stores.files, site, folders), refuseGoing(stores.removals, site, [path])])
  const found = isAsWritten ? path : await onFoundWay(stores.files, site, path, way)
  if (found !== path) return createFolder(stores, site, found, { ...requester, isAsWritten: true })
  await putOnWay(stores, folders, way, {
    site,
    paths: [path],
    changes: [{ kind: 'folder', key: folderKey('live', site, path) }],
    absent: [[fileKey('live', site, path), 'destinationExists']],
    remainingTime,
    entry: { ...author, site, type: 'folder.created', subject: path },
  })
}
