import { ServiceError } from '../../core/errors.ts'
import { isPage } from '../file-kind.ts'
import type { ChooseBytes, ObjectStore, ReadObject } from '../object-store.ts'
import { type Edition, fileKey, folderKey, root, type Scope, type StoragePath } from '../path.ts'
import { spellingsOf } from '../resolve-path.ts'

/** Errors: fileUnknown, notAFile (a folder). */
export const readFile = async (
  store: ObjectStore,
  scope: Scope,
  wanted: StoragePath,
  asDraft: boolean,
  choose: ChooseBytes,
  expected?: string,
): Promise<ReadObject> => {
  for await (const path of spellingsOf(store, scope, wanted)) {
    const read = (edition: Edition) => store.read(fileKey(edition, scope.site, path), choose, expected)
    const draft = asDraft && isPage(path) ? await read('draft') : undefined
    const object = draft ?? (path === root ? undefined : await read('live'))
    if (object) return object
    if (path === root || (await store.exists(folderKey('live', scope.site, path)))) {
      throw new ServiceError('notAFile', { message: 'This path is a folder. Add ?meta to list it.' })
    }
  }
  throw new ServiceError('fileUnknown')
}
