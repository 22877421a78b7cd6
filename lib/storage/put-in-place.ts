import { type ErrorName, ServiceError } from '../core/errors.ts'
import type { Author, HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { RemainingTime } from '../core/remaining-time.ts'
import type { Conditions } from './conditions.ts'
import type { FolderRemovals } from './folder-removals.ts'
import type { Change, Expected, ObjectStore } from './object-store.ts'
import { ancestorsOf, fileKey, folderKey, root, type StoragePath } from './path.ts'
import type { Workflows } from './workflows.ts'

/** What the operations of the storage work on. */
export interface StorageStores {
  readonly files: ObjectStore
  readonly workflows: Workflows
  readonly removals: FolderRemovals
}

/** Who asks for a change, how long he still waits for it, and under which conditions it is to be made. */
export interface Requester {
  readonly author: Author
  readonly remainingTime: RemainingTime
  /** Whether paths are taken as they are written: otherwise folders that are not there so are looked up without case. */
  readonly isAsWritten?: boolean
  readonly conditions?: Conditions
}

/** Keys where nothing may be, each with the error for what is there all the same. */
export type Absences = readonly (readonly [key: string, error: ErrorName])[]

export interface Placement {
  readonly site: SiteId
  /** What must neither lie in a folder that is being removed, nor be one. */
  readonly paths: readonly StoragePath[]
  readonly changes: readonly Change[]
  readonly absent: Absences
  /** Keys where something must still be: otherwise it is stale. */
  readonly standing?: readonly string[]
  /** What the conditions of the request were found to hold for: it must still be so. */
  readonly matching?: readonly Expected[]
  readonly remainingTime: RemainingTime
  readonly entry: HistoryEntry
  /** Under which they are held that go into a folder that is. */
  readonly holding?: string
}

/** A folder on the way must not be a file. */
export const noFileOnTheWay = (site: SiteId, path: StoragePath): Absences =>
  ancestorsOf(path).map((ancestor) => [fileKey('live', site, ancestor), 'pathUnknown'])

/** The folders on the way to something, as they have been found. */
export interface Way {
  /** The deepest one that is there: no file is on the way to it, since whoever created it has looked for one. */
  readonly standing: StoragePath | undefined
  /** Those below it, from the outermost on. */
  readonly missing: readonly StoragePath[]
}

/** Looks for the deepest of some folders, each in the one before it, that is there: from the deepest on, twice as many each time. */
export const findWay = async (files: ObjectStore, site: SiteId, folders: readonly StoragePath[]): Promise<Way> => {
  for (let end = folders.length, count = 1; end > 0; end -= count, count *= 2) {
    const some = folders.slice(Math.max(0, end - count), end)
    const found = await Promise.all(some.map((folder) => files.find(folderKey('live', site, folder))))
    const index = found.findLastIndex((info) => info !== undefined)
    const standing = some[index]
    if (standing !== undefined) return { standing, missing: folders.slice(folders.indexOf(standing) + 1) }
  }
  return { standing: undefined, missing: folders }
}

/** None of the folders that are missing must be a file. */
export const noFileFor = (site: SiteId, { missing }: Way): Absences =>
  missing.map((folder) => [fileKey('live', site, folder), 'pathUnknown'])

/** Waits for all of them. The first in their order that has failed is thrown. */
export const allInOrder = async <Results extends readonly unknown[]>(
  calls: readonly [...{ [Index in keyof Results]: Promise<Results[Index]> }],
): Promise<Results> => {
  await Promise.allSettled(calls)
  for (const call of calls) await call
  return Promise.all(calls) as Promise<Results>
}

/** Every folder that the paths lie in, or may be. */
const foldersAround = (paths: readonly StoragePath[]): readonly StoragePath[] =>
  [...new Set(paths.flatMap((path) => [...ancestorsOf(path), path]))].filter((path) => path !== root)

/**
 * Makes changes visible together, when nothing stands in their way and no folder that they go into is being removed. Nothing is
 * changed either when something to be moved has changed since it was listed (`stale`), there is something else than what was seen
 * (`changed`), or the time was up (`late`).
 * Errors: folderGoing, those of `absent`.
 */
export const putInPlace = async (
  { files }: Pick<StorageStores, 'files'>,
  { site, paths, changes, absent, standing = [], matching = [], remainingTime, entry, holding }: Placement,
): Promise<'placed' | 'stale' | 'changed' | 'late'> => {
  const conditions = {
    absent: absent.map(([key]) => key),
    staying: { site, folders: foldersAround(paths), holding },
    standing,
    matching,
    remainingTime,
  }
  const result = await files.place(changes, conditions, entry)
  if (result.outcome === 'going') throw new ServiceError('folderGoing')
  if (result.outcome === 'rival') {
    throw new ServiceError(absent.find(([key]) => key === result.key)?.[1] ?? 'destinationExists')
  }
  return result.outcome
}

/** The same placement with the folders that are missing on the way to it. None of them may be a file: pathUnknown. */
export const onWay = (way: Way, { changes, absent, ...placement }: Placement): Placement => {
  const { site } = placement
  const created = way.missing.map((folder): Change => ({ kind: 'folder', key: folderKey('live', site, folder) }))
  return {
    ...placement,
    changes: [...created, ...changes],
    absent: [...absent, ...noFileFor(site, way)],
    standing: way.standing === undefined ? [] : [folderKey('live', site, way.standing)],
  }
}

/** How often something is tried again that has changed under one's hands. */
export const mostAttempts = 10

/**
 * Puts something in place, with the folders that are missing on the way to it. What has changed there meanwhile is looked at by `see` once
 * more, which answers what must be so. Errors: those of `putInPlace` and of `see`, pathUnknown, unavailable (the time was up, or something
 * changes all the time: nothing was changed).
 */
export const putOnWay = async (
  stores: Pick<StorageStores, 'files'>,
  folders: readonly StoragePath[],
  found: Way,
  { see, ...placement }: Placement & { readonly see?: () => Promise<readonly Expected[]> },
): Promise<void> => {
  let { matching = [] } = placement
  let way = found
  for (let count = 0; count < mostAttempts; count++) {
    const outcome = await putInPlace(stores, onWay(way, { ...placement, matching }))
    if (outcome === 'placed') return
    if (outcome === 'late') break
    if (outcome === 'changed' && see) matching = await see()
    way = await findWay(stores.files, placement.site, folders)
  }
  throw new ServiceError('unavailable')
}

/** Refuses early, before a body is read, what putInPlace would refuse in the end. */
export const refuseRivals = async ({ files }: Pick<StorageStores, 'files'>, absent: Absences): Promise<void> => {
  const found = await Promise.all(
    absent.map(([key]) => (key.endsWith('/') ? files.exists(key) : files.find(key).then((info) => info !== undefined))),
  )
  const rival = absent.find((_, index) => found[index])
  if (rival) throw new ServiceError(rival[1])
}

/** Refuses early, before a body is read, what would be refused when it is put in place. Errors: folderGoing. */
export const refuseGoing = async (
  removals: FolderRemovals,
  site: SiteId,
  paths: readonly StoragePath[],
): Promise<void> => {
  if ((await removals.openOf(site, foldersAround(paths))).length > 0) throw new ServiceError('folderGoing')
}
