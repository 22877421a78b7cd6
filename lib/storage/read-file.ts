import { ServiceError } from '../errors.ts'
import type { SiteId } from '../ids.ts'
import { fileKey, folderKey } from './keys.ts'
import type { ByteRange, ObjectInfo, ObjectStore, ReadObject } from './object-store.ts'
import { isPage } from './page.ts'
import { root, type StoragePath } from './path.ts'

/** What is at a path: the file itself, in its live version or its draft. Errors: fileUnknown, notAFile (a folder). */
export const readFile = async (
  store: ObjectStore,
  site: SiteId,
  path: StoragePath,
  asDraft: boolean,
  choose: (info: ObjectInfo) => ByteRange | undefined,
): Promise<ReadObject> => {
  const draft = asDraft && isPage(path) ? await store.read(fileKey('draft', site, path), choose) : undefined
  const object = draft ?? (path === root ? undefined : await store.read(fileKey('live', site, path), choose))
  if (object) return object
  if (path === root || (await store.exists(folderKey('live', site, path)))) {
    throw new ServiceError('notAFile', { message: 'This is a folder. Add ?meta to read what it holds.' })
  }
  throw new ServiceError('fileUnknown')
}
