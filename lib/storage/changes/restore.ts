import { ServiceError } from '../../core/errors.ts'
import { checkConditions } from '../conditions.ts'
import type { ObjectStore, ObjectVersion, Restoration } from '../object-store.ts'
import { ancestorsOf, fileKey, isReserved, root, type StoragePath } from '../path.ts'
import { change, type Plan, type Refusals, type Requester, refuse } from './change.ts'
import { absencesOf, isInWorkflow, look, lookAgain, type Seen } from './look.ts'
import { isAnyTaken, type RestoreDeps, restoreFolder, type Wanted } from './restore-folder.ts'

const fewVersions = 2

export const unknownVersion = () =>
  new ServiceError('fileUnknown', { message: 'There is no such version of this file, or it is kept no longer.' })

const newestKept = async (files: ObjectStore, key: string): Promise<ObjectVersion | undefined> =>
  (await files.versions(key, { limit: fewVersions }))?.versions.find(({ isCurrent }) => !isCurrent)

const restorationOf = async (files: ObjectStore, key: string, version: string): Promise<Restoration | undefined> => {
  const [newest] = (await files.versions(key, { limit: 1 }))?.versions ?? []
  if (newest?.id === version) return newest.isCurrent ? undefined : { ...newest, kind: 'restore', key }
  if (!(await files.readVersion(key, version, () => undefined))) throw unknownVersion()
  return { kind: 'restore', key, id: version }
}

const refusalsOf = ({ checked, isLocked, taken }: Seen, isRunning: boolean): Refusals => [
  checked.refusal,
  isLocked && 'folderLocked',
  taken.has('destinationExists') && 'destinationExists',
  taken.has('pathUnknown') && 'pathUnknown',
  isRunning && 'workflowUpdated',
]

const planRestoredFile = ({ place, ancestors, checked }: Seen, restoration: Restoration, version?: string): Plan => {
  if (checked.refusal) return checked.refusal
  const { path } = place
  const details = version === undefined ? {} : { details: { version } }
  return {
    paths: [path],
    changes: [restoration],
    absent: absencesOf(place),
    ancestors,
    matching: checked.matching,
    entry: { type: 'file.restored', subject: path, ...details },
  }
}

const restoreFile = async (
  deps: RestoreDeps,
  path: StoragePath,
  restoration: Restoration,
  { replace = false, version }: Wanted,
  requester: Requester,
): Promise<void> => {
  const { site } = requester
  const place = { site, path, brings: 'file', isNew: !replace } as const
  const [seen, isRunning] = await Promise.all([
    look(deps, place, { ...requester, isCaseSensitive: true }),
    isInWorkflow(deps, site, [path]),
  ])
  refuse(refusalsOf(seen, isRunning))
  const again = (before: Seen) => lookAgain(deps, before, [path], requester)
  await change(deps, seen, (now) => planRestoredFile(now, restoration, version), requester, again)
}

/** Restores a removed or earlier file, or what the last removal of a folder took. */
export const restore = async (
  deps: RestoreDeps,
  path: StoragePath,
  wanted: Wanted,
  requester: Requester,
): Promise<void> => {
  const { site } = requester
  const { files, removals, reservedFolders } = deps
  refuse([
    path === root && new ServiceError('nameRequired', { message: 'Name what is to be restored: a file, or a folder.' }),
    isReserved(reservedFolders, path) && 'folderReserved',
  ])
  const key = fileKey('live', site, path)
  if (wanted.version !== undefined) {
    const restoration = await restorationOf(files, key, wanted.version)
    if (restoration) return restoreFile(deps, path, restoration, wanted, requester)
    return refuse([(await checkConditions(files, site, [path], false, requester.conditions)).refusal])
  }
  const [kept, periods] = await Promise.all([
    newestKept(files, key),
    removals.lastOf(site, [...ancestorsOf(path), path]),
  ])
  // A folder of that name may have gone since.
  const later = periods.filter(({ from }) => from > (kept?.goneAt ?? 0))
  if (kept && !(await isAnyTaken(deps, site, path, later)))
    return restoreFile(deps, path, { ...kept, kind: 'restore', key }, wanted, requester)
  return restoreFolder(deps, path, periods, wanted, requester)
}
