import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { type Deadline, reserves } from '../../core/time.ts'
import type { ChangeDeps } from '../changes/change.ts'
import { findFile, isBelowFile, isRunningAt, openLocks } from '../changes/look.ts'
import { refusalsAt } from '../changes/remove.ts'
import { listAll } from '../many-objects.ts'
import type { ListedObject, ObjectStore } from '../object-store.ts'
import {
  editions,
  folderIn,
  folderKey,
  isInScope,
  isReserved,
  parentOf,
  pathIn,
  root,
  type Scope,
  type StoragePath,
} from '../path.ts'
import { refusalIn } from '../refusals.ts'
import { resolveParent } from '../resolve-path.ts'

const mostCounted = 100_000

type Lister = Pick<ObjectStore, 'list'>

async function* objectsBelow(store: Lister, site: SiteId, folder: StoragePath): AsyncGenerator<ListedObject, void> {
  for (const edition of editions) {
    for await (const objects of listAll(store, folderKey(edition, site, folder))) yield* objects
  }
}

/** Counts files and folders as users see them: a page and its draft count as one. Stops at 100,000 objects. */
export const countFolder = async (
  store: Lister,
  site: SiteId,
  folder: StoragePath,
  deadline: Pick<Deadline, 'isOver'>,
) => {
  const [files, folders] = [new Set<string>(), new Set<string>()]
  let [bytes, objects] = [0, 0]
  const result = (atLeast: boolean) => ({ files: files.size, folders: folders.size, bytes, atLeast })
  for await (const { key, size } of objectsBelow(store, site, folder)) {
    // Without this check, a folder that has only uncounted objects would seem to be missing.
    if (objects === mostCounted || (objects > 0 && deadline.isOver())) return result(true)
    objects += 1
    bytes += size
    const path = pathIn(key)
    if (!key.endsWith('/')) files.add(path)
    folders.add(folder)
    for (let around = folderIn(key); !folders.has(around); around = parentOf(around)) folders.add(around)
  }
  return result(false)
}

interface Preview extends Awaited<ReturnType<typeof countFolder>> {
  readonly code?: number
}

/**
 * Counts the contents of a folder, and names the error if its removal would be refused. Errors: fileUnknown,
 * pathUnknown, unavailable.
 */
export const previewRemoval = async (
  deps: ChangeDeps,
  scope: Scope,
  path: StoragePath,
  deadline: Deadline,
): Promise<Preview> => {
  const { files, reservedFolders } = deps
  const { site } = scope
  const [{ live, draft }, open] = await Promise.all([findFile(deps, site, path), openLocks(deps, site, [path])])
  const isFile = live !== undefined || draft !== undefined
  const ofFile = { files: 1, folders: 0, bytes: (live?.size ?? 0) + (draft?.size ?? 0), atLeast: false }
  const counted = isFile ? ofFile : await countFolder(files, site, path, deadline.reserving(reserves.preview))
  if (!isFile && path !== root && counted.folders === 0) {
    const found = await resolveParent(files, scope, path)
    if (found !== path) return previewRemoval(deps, scope, found, deadline)
    throw new ServiceError((await isBelowFile(deps, site, path)) ? 'pathUnknown' : 'fileUnknown')
  }
  const refusal =
    refusalIn([
      !isInScope(scope, parentOf(path)) && 'privilegesMissing',
      ...refusalsAt(path, open),
      !isFile && isReserved(reservedFolders, path) && 'folderReserved',
    ]) ?? refusalIn([(await isRunningAt(deps, site, path, isFile)) && 'workflowDeleted'])
  return { ...counted, ...(refusal && { code: refusal.code }) }
}
