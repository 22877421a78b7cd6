import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { checkConditions } from './conditions.ts'
import {
  type Absences,
  allInOrder,
  carryOut,
  noFileAt,
  type Requester,
  refuseOccupied,
  refuseRemovals,
} from './engine.ts'
import type { ObjectStore, ObjectVersion, Restoration } from './object-store.ts'
import { ancestorsOf, fileKey, folderKey, isReserved, root, type StoragePath } from './path.ts'
import { refuseWorkflow } from './put-file.ts'
import { findAncestors } from './resolve-path.ts'
import { isAnyTaken, type RestoreDeps, restoreFolder, type Wanted } from './restore-folder.ts'

const fewVersions = 2

const unknownVersion = () =>
  new ServiceError('fileUnknown', { message: 'There is no such version of this file, or it is kept no longer.' })

const newestKept = async (files: ObjectStore, key: string): Promise<ObjectVersion | undefined> =>
  (await files.versions(key, { limit: fewVersions }))?.versions.find(({ isCurrent }) => !isCurrent)

const restorationOf = async (files: ObjectStore, key: string, version: string): Promise<Restoration | undefined> => {
  const [newest] = (await files.versions(key, { limit: 1 }))?.versions ?? []
  if (newest?.id === version) return newest.isCurrent ? undefined : { ...newest, kind: 'restore', key }
  if (!(await files.readVersion(key, version, () => undefined))) throw unknownVersion()
  return { kind: 'restore', key, id: version }
}

const restoreFile = async (
  deps: RestoreDeps,
  site: SiteId,
  path: StoragePath,
  restoration: Restoration,
  { replace = false, version }: Wanted,
  requester: Requester,
): Promise<void> => {
  const { files } = deps
  const absent: Absences = [
    [folderKey('live', site, path), 'destinationExists'],
    ...(replace ? [] : [[fileKey('live', site, path), 'destinationExists'] as const]),
  ]
  const folders = ancestorsOf(path)
  const checkAgain = () => checkConditions(files, site, path, false, requester.conditions)
  const [matching, ancestors] = await allInOrder([
    checkAgain(),
    findAncestors(files, site, folders),
    refuseRemovals(deps.removals, site, [path]),
  ])
  await refuseOccupied(deps, [...absent, ...noFileAt(site, ancestors.missing)])
  await refuseWorkflow(deps, { site, path })
  const details = version === undefined ? {} : { details: { version } }
  const entry = { type: 'file.restored', subject: path, ...details } as const
  const plan = { site, paths: [path], changes: [restoration], absent, matching, checkAgain, entry }
  await carryOut(deps, plan, requester, folders, ancestors)
}

/**
 * Restores a removed or earlier file, or what the last removal of a folder took. Errors: nameRequired (the root),
 * fileUnknown, pathUnknown, destinationExists, workflowUpdated, folderLocked, folderReserved, conditionFailed,
 * storageRefused (too much for one request), unavailable.
 */
export const restore = async (
  deps: RestoreDeps,
  site: SiteId,
  path: StoragePath,
  wanted: Wanted,
  requester: Requester,
): Promise<void> => {
  const { files, removals, reservedFolders } = deps
  if (path === root)
    throw new ServiceError('nameRequired', { message: 'Name what is to be restored: a file, or a folder.' })
  if (isReserved(reservedFolders, path)) throw new ServiceError('folderReserved')
  const key = fileKey('live', site, path)
  if (wanted.version !== undefined) {
    const restoration = await restorationOf(files, key, wanted.version)
    if (restoration) return restoreFile(deps, site, path, restoration, wanted, requester)
    await checkConditions(files, site, path, false, requester.conditions)
    return
  }
  const [kept, periods] = await Promise.all([
    newestKept(files, key),
    removals.lastOf(site, [...ancestorsOf(path), path]),
  ])
  // A folder of that name may have gone since.
  const later = periods.filter(({ from }) => from > (kept?.goneAt ?? 0))
  if (kept && !(await isAnyTaken(deps, site, path, later)))
    return restoreFile(deps, site, path, { ...kept, kind: 'restore', key }, wanted, requester)
  return restoreFolder(deps, site, path, periods, wanted, requester)
}
