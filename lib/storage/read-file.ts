import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { isPage } from './file-kind.ts'
import type { ByteRange, ObjectInfo, ObjectStore, ReadObject } from './object-store.ts'
import { type Area, fileKey, folderKey, root, type StoragePath } from './path.ts'

/**
 * Reads the live file or its draft. `choose` decides on the bytes; `expected` is as in `ObjectStore.read`. Errors:
 * fileUnknown, notAFile (a folder).
 */
export const readFile = async <Choice extends { readonly bytes?: ByteRange | undefined }>(
  store: ObjectStore,
  site: SiteId,
  path: StoragePath,
  asDraft: boolean,
  choose: (info: ObjectInfo) => Choice,
  expected?: string,
): Promise<ReadObject & { readonly choice: Choice }> => {
  const read = async (area: Area) => {
    const choices: Choice[] = []
    const decide = (info: ObjectInfo) => {
      const choice = choose(info)
      choices.push(choice)
      return choice.bytes
    }
    const object = await store.read(fileKey(area, site, path), decide, expected)
    const choice = choices.at(-1)
    return object && choice && { ...object, choice }
  }
  const draft = asDraft && isPage(path) ? await read('draft') : undefined
  const object = draft ?? (path === root ? undefined : await read('live'))
  if (object) return object
  if (path === root || (await store.exists(folderKey('live', site, path)))) {
    throw new ServiceError('notAFile', { message: 'This is a folder. Add ?meta to read what it holds.' })
  }
  throw new ServiceError('fileUnknown')
}

/**
 * One of the states of a live file, by the name that `ObjectStore.versions` has for it, with what `choose` decides on
 * it. Errors: fileUnknown, when there is no such state of this file, or it is kept no longer.
 */
export const readVersion = async <Choice extends { readonly bytes?: ByteRange | undefined }>(
  store: ObjectStore,
  site: SiteId,
  path: StoragePath,
  id: string,
  choose: (info: ObjectInfo) => Choice,
): Promise<ReadObject & { readonly choice: Choice }> => {
  let choice: Choice | undefined
  const object = await store.readVersion(fileKey('live', site, path), id, (info) => {
    choice = choose(info)
    return choice.bytes
  })
  if (!object || !choice) {
    throw new ServiceError('fileUnknown', {
      message: 'There is no such version of this file, or it is kept no longer.',
    })
  }
  return { ...object, choice }
}
