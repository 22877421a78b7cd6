import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import type { StorageStores } from '../changes/change.ts'
import { findFile, isInWorkflow } from '../changes/look.ts'
import { isPage } from '../file-kind.ts'
import type { ChooseBytes, ObjectStore, ReadObject } from '../object-store.ts'
import { type Edition, fileKey, folderKey, isInScope, root, type Scope, type StoragePath } from '../path.ts'
import { spellingsOf } from '../resolve-path.ts'
import { entriesTowards, type Page } from './listing.ts'

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

export const describeFile = async (stores: StorageStores, site: SiteId, path: StoragePath) => {
  const found = [findFile(stores, site, path), isInWorkflow(stores, site, [path])] as const
  const [{ live, draft }, isRunning] = await Promise.all(found)
  return live && { info: live, page: isPage(path) ? { draft, isInWorkflow: isRunning } : undefined }
}

/** tells whether the caller can see a folder at this path. */
export const isVisibleFolder = async (files: ObjectStore, scope: Scope, path: StoragePath): Promise<boolean> =>
  isInScope(scope, path)
    ? files.exists(folderKey('live', scope.site, path))
    : (await entriesTowards(files, scope, path)).length > 0

/**
 * The time when a folder was created, and a page of its contents. Undefined when there is no folder. Errors: those of
 * the page.
 */
export const describeFolder = async <Item>(
  files: ObjectStore,
  scope: Scope,
  path: StoragePath,
  page: Promise<Page<Item>>,
  isFromStart: boolean,
) => {
  const mayHaveMarker = path !== root && isInScope(scope, path)
  const marked = mayHaveMarker ? files.find(folderKey('live', scope.site, path)) : undefined
  const [marker, listing] = await Promise.all([marked, page])
  const isProven = path === root || marker !== undefined || listing.contents.length > 0
  if (!isProven && (isFromStart || !(await isVisibleFolder(files, scope, path)))) return undefined
  return { created: marker?.modified, listing }
}
