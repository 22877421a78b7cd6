import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { ServiceError } from '../errors.ts'
import type { HistoryEntry } from '../history-entry.ts'
import type { SiteId } from '../ids.ts'
import type { ObjectStore, ObjectVersion, Period, Restoration } from './object-store.ts'
import { type Area, ancestorsOf, fileKey, folderKey, pathIn, root, type StoragePath } from './path.ts'
import { refuseWorkflow } from './put-file.ts'
import {
  type Absences,
  findWay,
  noFileFor,
  onWay,
  type Placement,
  putInPlace,
  putOnWay,
  type Requester,
  refuseGoing,
  refuseRivals,
  type StorageStores,
  type Way,
} from './put-in-place.ts'

export interface RestoreDeps extends StorageStores {
  readonly reservedFolders: readonly string[]
  readonly clock: Clock
}

/** What is to be there again. */
export interface Wanted {
  /** A state of a file, by what `versions` calls it; without one, what was removed last. */
  readonly version?: string | undefined
  /** Whether what is there meanwhile goes. */
  readonly replace?: boolean | undefined
}

/** How many objects one request brings back: a bound on time, and on memory. */
const mostObjects = 10_000

/** What a folder of which nothing says when it was removed is taken to have lost: what went within this time before the last of it, in milliseconds. */
const assumedLength = 60_000

/** How many states of a file are looked at for the newest that is not there. */
const fewVersions = 2

/** The newest state of a file that is not the present one. */
const newestKept = async (files: ObjectStore, key: string): Promise<ObjectVersion | undefined> => {
  const { versions } = await files.versions(key, { limit: fewVersions })
  return versions.find(({ isCurrent }) => !isCurrent)
}

/** Errors: fileUnknown. */
const restorationOf = async (files: ObjectStore, key: string, version: string): Promise<Restoration> => {
  const [newest] = (await files.versions(key, { limit: 1 })).versions
  if (newest?.id === version) return { ...newest, kind: 'restore', key }
  if (!(await files.readVersion(key, version, () => undefined))) {
    throw new ServiceError('fileUnknown', {
      message: 'There is no such version of this file, or it is kept no longer.',
    })
  }
  return { kind: 'restore', key, id: version }
}

const restoreFile = async (
  deps: RestoreDeps,
  site: SiteId,
  path: StoragePath,
  restoration: Restoration,
  { replace = false, version }: Wanted,
  { author, remainingTime }: Requester,
): Promise<void> => {
  const { files } = deps
  const absent: Absences = [
    [folderKey('live', site, path), 'destinationExists'],
    ...(replace ? [] : [[fileKey('live', site, path), 'destinationExists'] as const]),
  ]
  const folders = ancestorsOf(path)
  const [way] = await Promise.all([findWay(files, site, folders), refuseGoing(deps.removals, site, [path])])
  await refuseRivals(deps, [...absent, ...noFileFor(site, way)])
  await refuseWorkflow(deps, { site, path, asDraft: false })
  const details = version === undefined ? {} : { details: { version } }
  await putOnWay(deps, folders, way, {
    site,
    paths: [path],
    changes: [restoration],
    absent,
    remainingTime,
    entry: { ...author, site, type: 'file.restored', subject: path, ...details },
  })
}

/** When a folder was last removed, as far as that can be told. */
const lastRemoval = async (
  { files, removals }: Pick<RestoreDeps, 'files' | 'removals'>,
  site: SiteId,
  folder: StoragePath,
): Promise<Period | undefined> => {
  const known = await removals.lastOf(site, folder)
  if (known) return known
  let last = 0
  for (let after: string | undefined; ; ) {
    const prefix = folderKey('live', site, folder)
    const { entries, next } = await files.listRemoved({ prefix, after, limit: 1_000 })
    for (const { removedAt } of entries) last = Math.max(last, removedAt)
    if (next === undefined) break
    after = next
  }
  return last === 0 ? undefined : { from: last - assumedLength, to: last }
}

/** How many subfolders a refusal names. */
const mostNamed = 20

const tooMuch = (folder: StoragePath, changes: readonly Restoration[]): ServiceError => {
  const depth = folder === root ? 0 : folder.length + 1
  const below = changes.map(({ key }) => pathIn(key).slice(depth)).filter((path) => path.includes('/'))
  const names = [...new Set(below.map((path) => path.slice(0, path.indexOf('/'))))].slice(0, mostNamed)
  const advice =
    names.length === 0 ? 'Restore its files one by one.' : `Restore its folders one by one: ${names.join(', ')}.`
  return new ServiceError('storageRefused', {
    message: `The removal of this folder took more than ${mostObjects} files and folders along. ${advice}`,
  })
}

/** What a removal has taken along, drafts included. Errors: storageRefused (too much for one request). */
const takenBy = async (
  files: ObjectStore,
  site: SiteId,
  folder: StoragePath,
  period: Period,
): Promise<readonly Restoration[]> => {
  const found: Restoration[] = []
  for (const area of ['live', 'draft'] satisfies Area[]) {
    for await (const some of files.removedWithin(folderKey(area, site, folder), period)) {
      found.push(...some.map((one): Restoration => ({ ...one, kind: 'restore' })))
      if (found.length > mostObjects) throw tooMuch(folder, found)
    }
  }
  return found
}

/** How long a folder is held at the most while it is restored, and what is left of that when nothing may be done any more; in milliseconds. */
const longestHold = 60_000
const timeToLetGo = 5_000

const restoreFolder = async (
  deps: RestoreDeps,
  site: SiteId,
  folder: StoragePath,
  { replace = false }: Wanted,
  { author, remainingTime }: Requester,
): Promise<void> => {
  const { files, removals, workflows } = deps
  const period = await lastRemoval(deps, site, folder)
  if (!period)
    throw new ServiceError('fileUnknown', { message: 'Nothing of that name was removed, or it is kept no longer.' })
  await refuseGoing(removals, site, [folder])
  const absent: Absences = [
    [fileKey('live', site, folder), 'destinationExists'],
    ...(replace ? [] : [[folderKey('live', site, folder), 'destinationExists'] as const]),
  ]
  if (await workflows.isRunningBelow(site, folder)) throw new ServiceError('workflowUpdated')
  const holding = randomUUID()
  const end = deps.clock.monotonic() + longestHold - timeToLetGo
  if (!(await removals.hold(site, folder, holding, longestHold))) throw new ServiceError('folderGoing')
  try {
    const changes = await takenBy(files, site, folder, period)
    if (changes.length === 0) {
      throw new ServiceError('fileUnknown', { message: 'Nothing of this folder was removed, or it is kept no longer.' })
    }
    const way: Way = await findWay(files, site, ancestorsOf(folder))
    await refuseRivals(deps, [...absent, ...noFileFor(site, way)])
    const entry: HistoryEntry = {
      ...author,
      site,
      type: 'folder.restored',
      subject: folder,
      details: { count: changes.length },
    }
    const whileHeld = () => Math.min(remainingTime(), end - deps.clock.monotonic())
    const placement: Placement = { site, paths: [folder], changes, absent, remainingTime: whileHeld, entry, holding }
    const outcome = await putInPlace(deps, onWay(way, placement))
    if (outcome !== 'placed') throw new ServiceError('unavailable')
  } finally {
    await removals.release(site, folder, holding)
  }
}

/**
 * Brings back a file, in the state in which it was removed or in an earlier one, or what the last removal of a folder has taken along (decisions.md,
 * section 10). Errors: nameRequired (the root), fileUnknown (nothing of it is kept), pathUnknown, destinationExists, workflowUpdated, folderGoing,
 * folderReserved, storageRefused (more than one request can do), unavailable.
 */
export const restore = async (
  deps: RestoreDeps,
  site: SiteId,
  path: StoragePath,
  wanted: Wanted,
  requester: Requester,
): Promise<void> => {
  if (path === root)
    throw new ServiceError('nameRequired', { message: 'Name what is to be restored: a file, or a folder.' })
  if (deps.reservedFolders.includes(path)) throw new ServiceError('folderReserved')
  const key = fileKey('live', site, path)
  if (wanted.version !== undefined) {
    const restoration = await restorationOf(deps.files, key, wanted.version)
    return restoreFile(deps, site, path, restoration, wanted, requester)
  }
  const [kept, removal] = await Promise.all([newestKept(deps.files, key), deps.removals.lastOf(site, path)])
  // A folder of that name may have gone since.
  if (kept && (kept.goneAt ?? 0) >= (removal?.from ?? 0))
    return restoreFile(deps, site, path, { ...kept, kind: 'restore', key }, wanted, requester)
  return restoreFolder(deps, site, path, wanted, requester)
}
