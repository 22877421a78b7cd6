import { errors, ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { checkConditions } from '../conditions.ts'
import { isPage } from '../file-kind.ts'
import type { ObjectStore, ObjectVersion, Period, Restoration } from '../object-store.ts'
import { ancestorsOf, fileKey, folderKey, foldersAround, isReserved, root, type StoragePath } from '../path.ts'
import type { FolderRemovals } from '../path-locks.ts'
import { refuse } from '../refusals.ts'
import { type ChangeDeps, change, type Plan, type Requester } from './change.ts'
import { absencesOf, isInWorkflow, lockPath, lookAgain, planAt, type Seen } from './look.ts'
import { admit } from './put.ts'
import { extendRecords, nothingToRestore, restoreFolder } from './restore-folder.ts'

type RemovedStores = Pick<ChangeDeps, 'files'> & { readonly removals: Pick<FolderRemovals, 'lastOf'> }

interface Wanted {
  readonly version?: string | undefined
  readonly replace?: boolean | undefined
}

export const unknownVersion = () =>
  new ServiceError('fileUnknown', {
    message: 'This version of the file does not exist, or is no longer kept. ?versions lists the kept versions.',
  })

const newestKept = async (files: ObjectStore, key: string) => {
  const { versions = [] } = (await files.versions(key, { limit: 2 })) ?? {}
  const isPresent = versions[0]?.isCurrent === true
  return { isPresent, kept: versions.find(({ isCurrent }) => !isCurrent) }
}

// In milliseconds. S3 rounds times to seconds.
const longestRemoval = 1_000
const longestChange = 60_000

// The publication of a draft removes the draft, too, when it creates the live version.
const isSameRemoval = (live: ObjectVersion, { goneAt = 0 }: ObjectVersion): boolean => {
  const distance = Math.abs((live.goneAt ?? 0) - goneAt)
  return distance <= longestRemoval && distance <= Math.abs(live.at - goneAt)
}

type RemovedFile = Restoration & Pick<ObjectVersion, 'goneAt'>

/** H-20: includes the draft that was removed together with the page. At its last removal, a page may have only a draft. */
const newestRemoved = async (files: ObjectStore, site: SiteId, path: StoragePath) => {
  const [key, draftKey] = [fileKey('live', site, path), fileKey('draft', site, path)]
  const [live, draft] = await Promise.all([
    newestKept(files, key),
    isPage(path) ? newestKept(files, draftKey) : undefined,
  ])
  const isTaken = live.isPresent || draft?.isPresent === true
  const lost = !isTaken && draft?.kept?.isRemoved ? draft.kept : undefined
  const { at = 0, goneAt: lostAt = 0 } = lost ?? {}
  const isOlder = Math.max(at, lostAt - longestChange) > (live.kept?.goneAt ?? 0)
  const kept = isOlder ? undefined : live.kept
  const restorations: RemovedFile[] = kept ? [{ ...kept, kind: 'restore', key }] : []
  if (lost && (!kept || isSameRemoval(kept, lost))) restorations.push({ ...lost, kind: 'restore', key: draftKey })
  const { isRemoved = false, goneAt = 0 } = kept ?? lost ?? {}
  return { restorations, isPresent: live.isPresent, isTaken, goneAt: isRemoved ? goneAt : 0 }
}

const findRemoved = async ({ files, removals }: RemovedStores, site: SiteId, path: StoragePath) => {
  const [file, periods] = await Promise.all([
    newestRemoved(files, site, path),
    removals.lastOf(site, foldersAround([path])),
  ])
  // A folder of the same name may have been removed after the file.
  const isFolderLater = async () => {
    for (const period of periods.filter(({ from }) => from > file.goneAt)) {
      const removed = files.removedWithin(folderKey('live', site, path), period)
      for await (const some of removed) if (some.length > 0) return true
    }
    return false
  }
  const isFile = file.restorations.length > 0 && !(await isFolderLater())
  return { ...file, isFile, periods }
}

const restorationsOf = async (files: ObjectStore, key: string, version: string): Promise<readonly RemovedFile[]> => {
  const [newest] = (await files.versions(key, { limit: 1 }))?.versions ?? []
  if (newest?.id === version) return newest.isCurrent ? [] : [{ ...newest, kind: 'restore', key }]
  const older = await files.readVersion(key, version, () => undefined)
  if (!older) throw unknownVersion()
  return [{ kind: 'restore', key, id: version, size: older.info.size }]
}

const findAgain = async (files: ObjectStore, site: SiteId, path: StoragePath, { version, replace }: Wanted) => {
  if (version !== undefined) return restorationsOf(files, fileKey('live', site, path), version)
  const { restorations, isPresent } = await newestRemoved(files, site, path)
  refuse([isPresent && !replace && 'destinationExists', restorations.length === 0 && nothingToRestore()])
  return restorations
}

const isWithin = ({ from, to }: Period, goneAt: number): boolean =>
  goneAt >= from - longestRemoval && goneAt <= to + longestRemoval

// The record of a removed folder at the same path stays, because a restore needs it to find the later removal.
const noteUndone = async (
  { files, removals }: ChangeDeps,
  site: SiteId,
  path: StoragePath,
  restored: readonly RemovedFile[],
) => {
  const goneAt = restored.find(({ hiddenBy }) => hiddenBy)?.goneAt
  if (goneAt === undefined) return
  const [last] = await removals.lastOf(site, [path])
  const isOfFile = last && isWithin(last, goneAt)
  if (last && !isOfFile) {
    const { entries } = await files.listRemoved({ prefix: folderKey('live', site, path), limit: 1 })
    if (entries.length > 0) return
  }
  await removals.note({ site, folder: path, since: isOfFile ? last.from : goneAt })
}

const planRestoredFile = (seen: Seen, changes: readonly Restoration[], lockId: string, version?: string): Plan => {
  const { site, path } = seen.place
  const details = version === undefined ? {} : { details: { version } }
  const drafts = changes.filter(({ key }) => key === fileKey('draft', site, path))
  const absent = [...absencesOf(seen.place), ...drafts.map(({ key }) => [key, 'destinationExists'] as const)]
  return planAt(seen, { changes, absent, entry: { type: 'file.restored', subject: path, ...details }, lockId })
}

const restoreFile = async (deps: ChangeDeps, path: StoragePath, wanted: Wanted, requester: Requester) => {
  const { site } = requester
  const place = { site, path, kind: 'file', isNew: !wanted.replace } as const
  const [seen, isRunning] = await Promise.all([
    admit(deps, place, { ...requester, isCaseSensitive: true }),
    isInWorkflow(deps, site, [path]),
  ])
  refuse([isRunning && 'workflowUpdated'])
  await using lock = await lockPath(deps, path, requester)
  const locked = { ...requester, deadline: lock.deadline }
  // Before the lock, others may have restored or removed the file. The undo of this restore must not hide their file.
  const restorations = await findAgain(deps.files, site, path, wanted)
  const again = async (before: Seen) => {
    for (const { key, id } of restorations) {
      if (await deps.files.readVersion(key, id, () => undefined)) continue
      throw wanted.version === undefined ? nothingToRestore() : unknownVersion()
    }
    return lookAgain(deps, before, requester)
  }
  try {
    await change(deps, seen, (now) => planRestoredFile(now, restorations, lock.id, wanted.version), locked, again)
  } catch (error) {
    const isMeant = (period: Period) => restorations.some(({ goneAt = 0 }) => isWithin(period, goneAt))
    await noteUndone(deps, site, path, restorations).catch(() => {})
    await extendRecords(deps, site, ancestorsOf(path), isMeant).catch(() => {})
    throw error
  }
}

export const restore = async (
  deps: ChangeDeps,
  path: StoragePath,
  wanted: Wanted,
  requester: Requester,
): Promise<void> => {
  const { site, conditions } = requester
  const { files, reservedFolders } = deps
  const { version, replace } = wanted
  refuse([path === root && new ServiceError('nameRequired', { message: 'Name the file or folder to restore.' })])
  if (version !== undefined && (await restorationsOf(files, fileKey('live', site, path), version)).length === 0) {
    return refuse([(await checkConditions(files, site, [path], false, conditions)).refusal])
  }
  const { isFile = true, isTaken, periods = [] } = version === undefined ? await findRemoved(deps, site, path) : {}
  try {
    if (isFile) return await restoreFile(deps, path, wanted, requester)
    refuse([isReserved(reservedFolders, path) && 'folderReserved'])
    await restoreFolder(deps, path, periods, wanted, requester)
  } catch (error) {
    if (replace || !(error instanceof ServiceError) || error.code !== errors.destinationExists.code) throw error
    if (isFile ? await files.exists(folderKey('live', site, path)) : isTaken) throw error
    // If the caller removed the current folder instead, a restore would only bring that folder back (H-21).
    throw new ServiceError('destinationExists', {
      message:
        'The path is not free. Send "replace": true to restore over what exists there. Replaced files are kept as old ' +
        'versions.',
      cause: error,
    })
  }
}

const entriesOfFolder = 10

/**
 * A removed file or folder that a restore can bring back. Undefined if the path exists again, or if the file or folder
 * is no longer kept. If a path was removed as a file and as a folder, a restore brings back the later removal. An undone
 * restore does not change `goneAt`. A folder without an object has the `goneAt` of the last of its first entries.
 */
export const findInTrash = async (stores: RemovedStores, site: SiteId, path: StoragePath, type: 'file' | 'folder') => {
  const { files } = stores
  const folder = folderKey('live', site, path)
  const [file, isFolder] = await Promise.all([findRemoved(stores, site, path), files.exists(folder)])
  const { isFile, isPresent, isTaken, restorations, periods } = file
  const sinceOf = (goneAt = 0) => periods.find((period) => isWithin(period, goneAt))?.from ?? goneAt
  if (isFolder || isFile !== (type === 'file') || (isFile ? isPresent : isTaken)) return undefined
  const [last] = restorations
  if (isFile) return last && { size: last.size, goneAt: sinceOf(last.goneAt) }
  const { kept } = await newestKept(files, folder)
  if (kept) return { size: null, goneAt: sinceOf(kept.goneAt) }
  const { entries, next } = await files.listRemoved({ prefix: folder, limit: entriesOfFolder })
  if (entries.length === 0 && next === undefined) return undefined
  return { size: null, goneAt: sinceOf(Math.max(0, ...entries.map(({ removedAt }) => removedAt))) }
}
