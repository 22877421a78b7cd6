import { type Deadline, reserves } from '../../core/deadline.ts'
import { errors, ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { checkConditions, isUnconditional, refusalOf } from '../conditions.ts'
import { isPage } from '../file-kind.ts'
import { listAll } from '../many-objects.ts'
import type { ObjectStore, ObjectVersion, Period, Restoration } from '../object-store.ts'
import { ancestorsOf, editions, fileKey, folderKey, isReserved, pathIn, root, type StoragePath, upTo } from '../path.ts'
import { type Refusals, refuse, storageRefused } from '../refusals.ts'
import { type Ancestors, findAncestors } from '../resolve-path.ts'
import { type Absences, type ChangeDeps, change, noFileAt, type Plan, type Requester } from './change.ts'
import { lockPath } from './lock-path.ts'
import { absencesOf, findTaken, isInWorkflow, isLocked, look, lookAgain, type Seen, selfAndAncestors } from './look.ts'

interface Wanted {
  readonly version?: string | undefined
  readonly replace?: boolean | undefined
}

const mostObjects = 10_000

// In milliseconds: without a record, the removal is assumed to have taken this long.
const assumedLength = 60_000

const nothingToRestore = () =>
  new ServiceError('fileUnknown', {
    message: 'No removed file or folder of this name is kept. ?deleted lists the kept ones.',
  })

const assumedRemoval = async (
  { files, clock }: Pick<ChangeDeps, 'files' | 'clock'>,
  site: SiteId,
  folder: StoragePath,
  deadline: Deadline,
): Promise<readonly Period[]> => {
  let last = 0
  for (let after: string | undefined; ; ) {
    deadline.reserving(reserves.restore).check()
    const prefix = folderKey('live', site, folder)
    const { entries, next } = await files.listRemoved({ prefix, after, limit: 1_000 })
    for (const { removedAt } of entries) last = Math.max(last, removedAt)
    if (next === undefined) break
    after = next
  }
  return last === 0 ? [] : [{ from: last - assumedLength, to: Math.max(last, clock.wall()) }]
}

const mostNamed = 20

const tooMuch = (folder: StoragePath, changes: readonly Restoration[]): ServiceError => {
  const depth = folder === root ? 0 : folder.length + 1
  const below = changes.map(({ key }) => pathIn(key).slice(depth)).filter((path) => path.includes('/'))
  const names = [...new Set(below.map((path) => path.slice(0, path.indexOf('/'))))].slice(0, mostNamed)
  const advice =
    names.length === 0
      ? 'Restore its files one by one.'
      : `Restore its folders one by one, such as ${names.join(', ')}. ?deleted lists them.`
  return storageRefused(
    `This folder was removed with more than ${mostObjects} files and folders, too many for one restore. ${advice}`,
  )
}

const findRemoved = async (files: ObjectStore, folder: StoragePath, period: Period, { site, deadline }: Requester) => {
  const found: Restoration[] = []
  for (const edition of editions) {
    for await (const some of files.removedWithin(folderKey(edition, site, folder), period)) {
      found.push(...some.map((one): Restoration => ({ ...one, kind: 'restore' })))
      if (found.length > mostObjects) throw tooMuch(folder, found)
      deadline.reserving(reserves.restore).check()
    }
  }
  return found
}

export const isAnyRemoved = async (
  files: ObjectStore,
  site: SiteId,
  folder: StoragePath,
  periods: readonly Period[],
) => {
  for (const period of periods) {
    for await (const some of files.removedWithin(folderKey('live', site, folder), period)) {
      if (some.length > 0) return true
    }
  }
  return false
}

const findClash = async (
  files: ObjectStore,
  folder: StoragePath,
  changes: readonly Restoration[],
  { site, deadline }: Requester,
): Promise<boolean> => {
  const isFolder = (key: string) => key.endsWith('/')
  const comingFiles = new Set(changes.flatMap(({ key }) => (isFolder(key) ? [] : pathIn(key))))
  const comingFolders = new Set(changes.flatMap(({ key }) => upTo(folder, pathIn(key)).slice(isFolder(key) ? 0 : 1)))
  for (const edition of editions) {
    for await (const objects of listAll(files, folderKey(edition, site, folder))) {
      const clash = objects.some(({ key }) => {
        const [self, ...around] = upTo(folder, pathIn(key))
        const folders = isFolder(key) && self !== undefined ? [self, ...around] : around
        return folders.some((one) => comingFiles.has(one)) || (!isFolder(key) && comingFolders.has(self ?? root))
      })
      if (clash) return true
      deadline.reserving(reserves.restore).check()
    }
  }
  return false
}

interface SeenFolder {
  readonly site: SiteId
  readonly folder: StoragePath
  readonly lockId: string
  readonly changes: readonly Restoration[]
  readonly ancestors: Ancestors
}

const absencesOfFolder = (site: SiteId, folder: StoragePath, replace: boolean): Absences => [
  ...noFileAt(site, [folder], 'destinationExists'),
  ...(replace ? [] : editions.map((edition) => [folderKey(edition, site, folder), 'destinationExists'] as const)),
]

const planRestoredFolder = ({ site, folder, changes, ancestors, lockId }: SeenFolder, replace: boolean): Plan => ({
  paths: [folder],
  changes,
  absent: absencesOfFolder(site, folder, replace),
  ancestors,
  entry: { type: 'folder.restored', subject: folder, details: { count: changes.length } },
  lockId,
})

const restoreRemoved = async (
  deps: ChangeDeps,
  taken: Omit<SeenFolder, 'ancestors'>,
  since: number,
  replace: boolean,
  requester: Requester,
): Promise<void> => {
  const { files, removals } = deps
  const { site, folder, changes } = taken
  const ancestors = await findAncestors(files, site, ancestorsOf(folder))
  refuse(await findTaken(files, [...absencesOfFolder(site, folder, replace), ...noFileAt(site, ancestors.missing)]))
  const isClash = replace && (await findClash(files, folder, changes, requester))
  refuse([isClash && 'destinationExists'])
  try {
    // There is only one attempt. On S3, its undo hides the objects again, and their new removal is not in the recorded
    // period.
    await change(deps, { ...taken, ancestors }, (seen) => planRestoredFolder(seen, replace), requester)
  } catch (error) {
    // Records the period of this undo, so that the next restore finds the objects.
    await removals.note({ site, folder, since }).catch(() => {})
    throw error
  }
}

const findPresent = async (files: ObjectStore, site: SiteId, path: StoragePath) =>
  (await files.exists(folderKey('live', site, path))) ? 'folder' : files.find(fileKey('live', site, path))

const restoreFolder = async (
  deps: ChangeDeps,
  folder: StoragePath,
  periods: readonly Period[],
  { replace = false }: Wanted,
  requester: Requester,
): Promise<void> => {
  const { site, deadline, conditions = {} } = requester
  const { files, removals, workflows } = deps
  const known = periods.length > 0 ? periods : await assumedRemoval(deps, site, folder, deadline)
  refuse([known.length === 0 && nothingToRestore()])
  const [isHeld, present, isRunning] = await Promise.all([
    isLocked(deps, site, [folder]),
    isUnconditional(conditions) ? undefined : findPresent(files, site, folder),
    workflows.isRunningBelow(site, folder),
  ])
  refuse([isHeld && 'folderLocked', refusalOf(conditions, present), isRunning && 'workflowUpdated'])
  await using lock = await lockPath(deps, folder, { site, deadline })
  // A purge locks the path of its file before it looks for the locks of folders.
  refuse([(await removals.isOpenBelow(site, folder)) && 'folderLocked'])
  const locked = { ...requester, deadline: lock.deadline }
  for (const period of known) {
    const changes = await findRemoved(files, folder, period, locked)
    if (changes.length === 0) continue
    return await restoreRemoved(deps, { site, folder, lockId: lock.id, changes }, period.from, replace, locked)
  }
  throw nothingToRestore()
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

// The publication of a draft removes the draft, too, when it creates the live version.
const isSameRemoval = (live: ObjectVersion, { goneAt = 0 }: ObjectVersion): boolean => {
  const distance = Math.abs((live.goneAt ?? 0) - goneAt)
  return distance <= longestRemoval && distance <= Math.abs(live.at - goneAt)
}

/** H-20: includes the draft that was removed together with the page. A page may have only a draft. */
const newestRemoved = async (files: ObjectStore, site: SiteId, path: StoragePath) => {
  const [key, draftKey] = [fileKey('live', site, path), fileKey('draft', site, path)]
  const [{ kept, isPresent }, draft] = await Promise.all([
    newestKept(files, key),
    isPage(path) ? newestKept(files, draftKey) : undefined,
  ])
  const isTaken = isPresent || draft?.isPresent === true
  const lost = !isTaken && draft?.kept?.isRemoved ? draft.kept : undefined
  const restorations: Restoration[] = kept ? [{ ...kept, kind: 'restore', key }] : []
  if (lost && (!kept || isSameRemoval(kept, lost))) restorations.push({ ...lost, kind: 'restore', key: draftKey })
  return { restorations, isPresent, goneAt: (kept ?? lost)?.goneAt ?? 0 }
}

const restorationOf = async (files: ObjectStore, key: string, version: string): Promise<Restoration | undefined> => {
  const [newest] = (await files.versions(key, { limit: 1 }))?.versions ?? []
  if (newest?.id === version) return newest.isCurrent ? undefined : { ...newest, kind: 'restore', key }
  const older = await files.readVersion(key, version, () => undefined)
  if (!older) throw unknownVersion()
  return { kind: 'restore', key, id: version, size: older.info.size }
}

const refusalsOfFile = ({ checked, isLocked, taken }: Seen, isRunning: boolean, isInTheWay: boolean): Refusals => [
  checked.refusal,
  isLocked && 'folderLocked',
  (isInTheWay || taken.has('destinationExists')) && 'destinationExists',
  taken.has('pathUnknown') && 'pathUnknown',
  isRunning && 'workflowUpdated',
]

const planRestoredFile = (
  { place, ancestors, checked }: Seen,
  restorations: readonly Restoration[],
  version?: string,
): Plan => {
  if (checked.refusal) return checked.refusal
  const { site, path } = place
  const details = version === undefined ? {} : { details: { version } }
  const drafts = restorations.filter(({ key }) => key === fileKey('draft', site, path))
  return {
    paths: [path],
    changes: restorations,
    absent: [...absencesOf(place), ...drafts.map(({ key }) => [key, 'destinationExists'] as const)],
    ancestors,
    matching: checked.matching,
    entry: { type: 'file.restored', subject: path, ...details },
  }
}

const restoreFile = async (
  deps: ChangeDeps,
  path: StoragePath,
  restorations: readonly Restoration[],
  { replace = false, version, isPresent = false }: Wanted & { readonly isPresent?: boolean },
  requester: Requester,
): Promise<void> => {
  const { site } = requester
  const place = { site, path, kind: 'file', isNew: !replace } as const
  const [seen, isRunning] = await Promise.all([
    look(deps, place, { ...requester, isCaseSensitive: true }),
    isInWorkflow(deps, site, [path]),
  ])
  // If the file existed when its versions were read, this refuses even if somebody has removed the file since. The
  // removal has made a newer version than the one that this restore would use.
  refuse(refusalsOfFile(seen, isRunning, isPresent && !replace))
  const again = async (before: Seen) => {
    for (const { key, id } of restorations) {
      if (!(await deps.files.readVersion(key, id, () => undefined))) throw unknownVersion()
    }
    return lookAgain(deps, before, [path], requester)
  }
  await change(deps, seen, (now) => planRestoredFile(now, restorations, version), requester, again)
}

const restoreIfFree = async (
  deps: ChangeDeps,
  path: StoragePath,
  wanted: Wanted,
  requester: Requester,
): Promise<void> => {
  const { site } = requester
  const { files, removals, reservedFolders } = deps
  refuse([
    path === root && new ServiceError('nameRequired', { message: 'Name the file or folder to restore.' }),
    isReserved(reservedFolders, path) && 'folderReserved',
  ])
  const key = fileKey('live', site, path)
  if (wanted.version !== undefined) {
    const restoration = await restorationOf(files, key, wanted.version)
    if (restoration) return restoreFile(deps, path, [restoration], wanted, requester)
    return refuse([(await checkConditions(files, site, [path], false, requester.conditions)).refusal])
  }
  const [{ restorations, isPresent, goneAt }, periods] = await Promise.all([
    newestRemoved(files, site, path),
    removals.lastOf(site, selfAndAncestors(path)),
  ])
  // A folder of the same name may have been removed after the file.
  const later = periods.filter(({ from }) => from > goneAt)
  if (restorations.length > 0 && !(await isAnyRemoved(files, site, path, later)))
    return restoreFile(deps, path, restorations, { ...wanted, isPresent }, requester)
  return restoreFolder(deps, path, periods, wanted, requester)
}

/** Restores a version of a file, or everything that the last removal of a folder removed. */
export const restore: typeof restoreIfFree = async (deps, path, wanted, requester) => {
  try {
    await restoreIfFree(deps, path, wanted, requester)
  } catch (error) {
    if (wanted.replace || !(error instanceof ServiceError) || error.code !== errors.destinationExists.code) throw error
    // If the caller removed the present folder instead, a restore would only bring that folder back (H-21).
    throw new ServiceError('destinationExists', {
      message:
        'The path is not free. Send "replace": true to restore over what exists there. Replaced files are kept as old ' +
        'versions.',
      cause: error,
    })
  }
}
