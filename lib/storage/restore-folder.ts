import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { type Deadline, reserves } from '../core/deadline.ts'
import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { isUnconditional, requireConditions } from './conditions.ts'
import {
  noFileAt,
  type Plan,
  place,
  type Requester,
  refuseOccupied,
  refuseRemovals,
  type StorageStores,
} from './engine.ts'
import { listAll, type ObjectStore, type Period, type Restoration } from './object-store.ts'
import { ancestorsOf, areas, fileKey, folderKey, pathIn, root, type StoragePath } from './path.ts'
import { findAncestors } from './resolve-path.ts'

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
  deadline: Deadline,
): Promise<readonly Restoration[]> => {
  const found: Restoration[] = []
  for (const area of areas) {
    for await (const some of files.removedWithin(folderKey(area, site, folder), period)) {
      found.push(...some.map((one): Restoration => ({ ...one, kind: 'restore' })))
      if (found.length > mostObjects) throw tooMuch(folder, found)
      deadline.reserving(reserves.restore).check()
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

// Refuses a file in place of a folder, and a folder in place of a file. Errors: destinationExists, unavailable.
const refuseClashes = async (
  files: ObjectStore,
  site: SiteId,
  folder: StoragePath,
  changes: readonly Restoration[],
  deadline: Deadline,
): Promise<void> => {
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
      if (clash) throw new ServiceError('destinationExists')
      deadline.reserving(reserves.restore).check()
    }
  }
}

// Milliseconds. The lock ends after `longestLock`. No change begins in the last `lockReserve`.
const longestLock = 60_000
const lockReserve = 5_000

interface Locked {
  readonly id: string
  readonly deadline: Deadline
}

const withLock = async (
  { removals, clock }: RestoreDeps,
  site: SiteId,
  folder: StoragePath,
  deadline: Deadline,
  work: (lock: Locked) => Promise<void>,
): Promise<void> => {
  const id = randomUUID()
  const locked = deadline.within(longestLock - lockReserve, clock.monotonic)
  if (!(await removals.hold(site, folder, id, longestLock))) throw new ServiceError('folderLocked')
  try {
    await work({ id, deadline: locked })
  } finally {
    // Otherwise the lock ends by itself.
    await removals.release(site, folder, id).catch(() => {})
  }
}

const planRestore = (
  site: SiteId,
  folder: StoragePath,
  changes: readonly Restoration[],
  replace: boolean,
  lockId: string,
): Plan => ({
  site,
  paths: [folder],
  changes,
  absent: [
    [fileKey('live', site, folder), 'destinationExists'],
    ...(replace ? [] : areas.map((area) => [folderKey(area, site, folder), 'destinationExists'] as const)),
  ],
  entry: { type: 'folder.restored', subject: folder, details: { count: changes.length } },
  lockId,
})

const placeRestore = async (
  deps: RestoreDeps,
  plan: Plan & { readonly changes: readonly Restoration[] },
  folder: StoragePath,
  since: number,
  replace: boolean,
  requester: Requester,
): Promise<void> => {
  const { files, removals } = deps
  const { site, absent, changes } = plan
  const ancestors = await findAncestors(files, site, ancestorsOf(folder))
  await refuseOccupied(deps, [...absent, ...noFileAt(site, ancestors.missing)])
  if (replace) await refuseClashes(files, site, folder, changes, requester.deadline)
  try {
    if ((await place(deps, plan, requester, ancestors)) !== 'placed') throw new ServiceError('unavailable')
  } catch (error) {
    // S3 has hidden the objects again, later than the record says: the next attempt must find them.
    await removals.note({ site, folder, since }).catch(() => {})
    throw error
  }
}

/** `periods`: recorded removals, the newest first. Errors: those of `restore`. */
export const restoreFolder = async (
  deps: RestoreDeps,
  site: SiteId,
  folder: StoragePath,
  periods: readonly Period[],
  { replace = false }: Wanted,
  { author, deadline, conditions = {} }: Requester,
): Promise<void> => {
  const { files, removals, workflows } = deps
  const known = periods.length > 0 ? periods : await assumedRemoval(deps, site, folder, deadline)
  if (known.length === 0) throw nothingRemoved()
  await refuseRemovals(removals, site, [folder])
  if (!isUnconditional(conditions)) {
    requireConditions(conditions, (await files.exists(folderKey('live', site, folder))) ? 'folder' : undefined)
  }
  if (await workflows.isRunningBelow(site, folder)) throw new ServiceError('workflowUpdated')
  await withLock(deps, site, folder, deadline, async (lock) => {
    for (const period of known) {
      const changes = await takenIn(files, site, folder, period, lock.deadline)
      if (changes.length === 0) continue
      const plan = { ...planRestore(site, folder, changes, replace, lock.id), changes }
      return placeRestore(deps, plan, folder, period.from, replace, { author, deadline: lock.deadline })
    }
    throw nothingRemoved()
  })
}
