import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import type { RemainingTime } from '../core/remaining-time.ts'
import { isUnconditional, requireConditions } from './conditions.ts'
import {
  type Absences,
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

/** Without a removal record, restore everything removed in this time before the newest removal. In milliseconds. */
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
    refuseSlow(remainingTime)
    const prefix = folderKey('live', site, folder)
    const { entries, next } = await files.listRemoved({ prefix, after, limit: 1_000 })
    for (const { removedAt } of entries) last = Math.max(last, removedAt)
    if (next === undefined) break
    after = next
  }
  return last === 0 ? [] : [{ from: last - assumedLength, to: clock.wall() }]
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

/** The search ends when less time is left for the request, in milliseconds. Errors: unavailable. */
const timeToPlace = 10_000

const refuseSlow = (remainingTime: RemainingTime): void => {
  if (remainingTime() < timeToPlace) throw new ServiceError('unavailable')
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
      refuseSlow(remainingTime)
    }
  }
  return found
}

/** Errors: unavailable. */
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

/** A restored file must not meet a folder, nor a restored folder a file. Errors: destinationExists, unavailable. */
const refuseClashes = async (
  files: ObjectStore,
  site: SiteId,
  folder: StoragePath,
  changes: readonly Restoration[],
  remainingTime: RemainingTime,
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
      refuseSlow(remainingTime)
    }
  }
}

/** The lock of a folder ends after `longestHold`. No change begins in its last `timeToLetGo`. In milliseconds. */
const longestHold = 60_000
const timeToLetGo = 5_000

/**
 * Brings back what the last removal of a folder, or of one around it, has taken along. `periods`: when those were, the
 * newest first, as far as that is on record. Errors: as of `restore`.
 */
export const restoreFolder = async (
  deps: RestoreDeps,
  site: SiteId,
  folder: StoragePath,
  periods: readonly Period[],
  { replace = false }: Wanted,
  { author, remainingTime, conditions = {} }: Requester,
): Promise<void> => {
  const { files, removals, workflows, clock } = deps
  const known = periods.length > 0 ? periods : await assumedRemoval(deps, site, folder, remainingTime)
  if (known.length === 0) throw nothingRemoved()
  await refuseRemovals(removals, site, [folder])
  if (!isUnconditional(conditions)) {
    requireConditions(conditions, (await files.exists(folderKey('live', site, folder))) ? 'folder' : undefined)
  }
  const absent: Absences = [
    [fileKey('live', site, folder), 'destinationExists'],
    ...(replace ? [] : areas.map((area) => [folderKey(area, site, folder), 'destinationExists'] as const)),
  ]
  if (await workflows.isRunningBelow(site, folder)) throw new ServiceError('workflowUpdated')
  const holding = randomUUID()
  const end = clock.monotonic() + longestHold - timeToLetGo
  const whileHeld = () => Math.min(remainingTime(), end - clock.monotonic())
  const placeAll = async (period: Period, changes: readonly Restoration[]): Promise<void> => {
    const ancestors = await findAncestors(files, site, ancestorsOf(folder))
    await refuseOccupied(deps, [...absent, ...noFileAt(site, ancestors.missing)])
    if (replace) await refuseClashes(files, site, folder, changes, whileHeld)
    const entry: Plan['entry'] = { type: 'folder.restored', subject: folder, details: { count: changes.length } }
    const plan: Plan = { site, paths: [folder], changes, absent, entry, holding }
    try {
      if ((await place(deps, plan, { author, remainingTime: whileHeld }, ancestors)) === 'placed') return
      throw new ServiceError('unavailable')
    } catch (error) {
      // S3 has hidden the objects again, later than the record says: the next attempt must find them.
      await removals.note(site, folder, { from: period.from, to: clock.wall() }).catch(() => {})
      throw error
    }
  }
  if (!(await removals.hold(site, folder, holding, longestHold))) throw new ServiceError('folderGoing')
  try {
    for (const period of known) {
      const changes = await takenIn(files, site, folder, period, whileHeld)
      if (changes.length > 0) return await placeAll(period, changes)
    }
    throw nothingRemoved()
  } finally {
    // Otherwise the hold ends by itself.
    await removals.release(site, folder, holding).catch(() => {})
  }
}
