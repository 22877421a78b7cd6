import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { type RemainingTime, refuseLate, reserves } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { isUnconditional, refusalOf } from '../conditions.ts'
import { listAll, type ObjectStore, type Period, type Restoration } from '../object-store.ts'
import { ancestorsOf, areas, folderKey, pathIn, root, type StoragePath } from '../path.ts'
import { type Ancestors, findAncestors } from '../resolve-path.ts'
import { type Absences, change, noFileAt, type Plan, type Requester, refuse, type StorageStores } from './change.ts'
import { findTaken, isLocked } from './look.ts'

export interface RestoreDeps extends StorageStores {
  readonly reservedFolders: readonly string[]
  readonly clock: Clock
}

export interface Wanted {
  readonly version?: string | undefined
  readonly replace?: boolean | undefined
}

const mostObjects = 10_000

// Milliseconds. Without a record, the removal is assumed to have taken this long.
const assumedLength = 60_000

const nothingRemoved = () =>
  new ServiceError('fileUnknown', { message: 'Nothing of that name was removed, or it is kept no longer.' })

const assumedRemoval = async (
  { files, clock }: Pick<RestoreDeps, 'files' | 'clock'>,
  site: SiteId,
  folder: StoragePath,
  remainingTime: RemainingTime,
): Promise<readonly Period[]> => {
  let last = 0
  for (let after: string | undefined; ; ) {
    refuseLate(remainingTime, reserves.restore)
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
      : `Restore its folders one by one, which ?deleted lists; among them are ${names.join(', ')}.`
  return new ServiceError('storageRefused', {
    message: `The removal of this folder took more than ${mostObjects} files and folders along. ${advice}`,
  })
}

const takenIn = async (
  files: ObjectStore,
  site: SiteId,
  folder: StoragePath,
  period: Period,
  remainingTime: RemainingTime,
): Promise<readonly Restoration[]> => {
  const found: Restoration[] = []
  for (const area of areas) {
    for await (const some of files.removedWithin(folderKey(area, site, folder), period)) {
      found.push(...some.map((one): Restoration => ({ ...one, kind: 'restore' })))
      if (found.length > mostObjects) throw tooMuch(folder, found)
      refuseLate(remainingTime, reserves.restore)
    }
  }
  return found
}

export const isAnyTaken = async (
  { files }: Pick<RestoreDeps, 'files'>,
  site: SiteId,
  folder: StoragePath,
  periods: readonly Period[],
): Promise<boolean> => {
  for (const period of periods) {
    for await (const some of files.removedWithin(folderKey('live', site, folder), period)) {
      if (some.length > 0) return true
    }
  }
  return false
}

const upTo = (folder: StoragePath, path: string): readonly string[] => {
  const found: string[] = []
  for (let at = path.length; at > folder.length; at = path.lastIndexOf('/', at - 1)) found.push(path.slice(0, at))
  return found
}

const findClash = async (
  files: ObjectStore,
  site: SiteId,
  folder: StoragePath,
  changes: readonly Restoration[],
  remainingTime: RemainingTime,
): Promise<boolean> => {
  const isFolder = (key: string) => key.endsWith('/')
  const comingFiles = new Set(changes.flatMap(({ key }) => (isFolder(key) ? [] : pathIn(key))))
  const comingFolders = new Set(changes.flatMap(({ key }) => upTo(folder, pathIn(key)).slice(isFolder(key) ? 0 : 1)))
  for (const area of areas) {
    for await (const objects of listAll(files, folderKey(area, site, folder))) {
      const clash = objects.some(({ key }) => {
        const [self, ...around] = upTo(folder, pathIn(key))
        const folders = isFolder(key) && self !== undefined ? [self, ...around] : around
        return folders.some((one) => comingFiles.has(one)) || (!isFolder(key) && comingFolders.has(self ?? ''))
      })
      if (clash) return true
      refuseLate(remainingTime, reserves.restore)
    }
  }
  return false
}

// Milliseconds. The lock ends after `longestLock`. No change begins in the last `lockReserve`.
const longestLock = 60_000
const lockReserve = 5_000

interface SeenFolder {
  readonly site: SiteId
  readonly folder: StoragePath
  readonly lockId: string
  readonly changes: readonly Restoration[]
  readonly ancestors: Ancestors
}

const absencesOf = (site: SiteId, folder: StoragePath, replace: boolean): Absences => [
  ...noFileAt(site, [folder], 'destinationExists'),
  ...(replace ? [] : areas.map((area) => [folderKey(area, site, folder), 'destinationExists'] as const)),
]

const planRestoredFolder = ({ site, folder, changes, ancestors, lockId }: SeenFolder, replace: boolean): Plan => ({
  paths: [folder],
  changes,
  absent: absencesOf(site, folder, replace),
  ancestors,
  entry: { type: 'folder.restored', subject: folder, details: { count: changes.length } },
  lockId,
})

const restoreTaken = async (
  deps: RestoreDeps,
  taken: Omit<SeenFolder, 'ancestors'>,
  since: number,
  replace: boolean,
  requester: Requester,
): Promise<void> => {
  const { files, removals } = deps
  const { site, folder, changes } = taken
  const ancestors = await findAncestors(files, site, ancestorsOf(folder))
  refuse(await findTaken(files, [...absencesOf(site, folder, replace), ...noFileAt(site, ancestors.missing)]))
  const isClash = replace && (await findClash(files, site, folder, changes, requester.remainingTime))
  refuse([isClash && 'destinationExists'])
  try {
    // An undone attempt is not repeated: its objects are hidden anew.
    await change(deps, { ...taken, ancestors }, (seen) => planRestoredFolder(seen, replace), requester)
  } catch (error) {
    // S3 has hidden the objects again, later than the record says: the next attempt must find them.
    await removals.note({ site, folder, since }).catch(() => {})
    throw error
  }
}

export const restoreFolder = async (
  deps: RestoreDeps,
  folder: StoragePath,
  periods: readonly Period[],
  { replace = false }: Wanted,
  { site, author, remainingTime, conditions = {} }: Requester,
): Promise<void> => {
  const { files, removals, workflows, clock } = deps
  const known = periods.length > 0 ? periods : await assumedRemoval(deps, site, folder, remainingTime)
  refuse([known.length === 0 && nothingRemoved()])
  const isUnconditionally = isUnconditional(conditions)
  const [isHeld, isFolder, isInWorkflow] = await Promise.all([
    isLocked(removals, site, [folder]),
    !isUnconditionally && files.exists(folderKey('live', site, folder)),
    workflows.isRunningBelow(site, folder),
  ])
  refuse([
    isHeld && 'folderLocked',
    refusalOf(conditions, isFolder ? 'folder' : undefined),
    isInWorkflow && 'workflowUpdated',
  ])
  const lockId = randomUUID()
  const end = clock.monotonic() + longestLock - lockReserve
  refuse([!(await removals.hold(site, folder, lockId, longestLock)) && 'folderLocked'])
  const locked = { site, author, remainingTime: () => Math.min(remainingTime(), end - clock.monotonic()) }
  try {
    for (const period of known) {
      const changes = await takenIn(files, site, folder, period, locked.remainingTime)
      if (changes.length === 0) continue
      return await restoreTaken(deps, { site, folder, lockId, changes }, period.from, replace, locked)
    }
    throw nothingRemoved()
  } finally {
    await removals.release(site, folder, lockId).catch(() => {})
  }
}
