import type { Deadline } from '../core/deadline.ts'
import { type ErrorName, ServiceError } from '../core/errors.ts'
import type { Author, HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { Conditions } from './conditions.ts'
import type { FolderRemovals } from './folder-removals.ts'
import type { Change, Expected, ObjectStore, PlaceResult, RemovedFolder } from './object-store.ts'
import { ancestorsOf, fileKey, folderKey, root, type StoragePath } from './path.ts'
import { type Ancestors, findAncestors, resolvePath } from './resolve-path.ts'
import type { Workflows } from './workflows.ts'

// Every change of files is a plan. This engine resolves its path, places it, retries it and writes its history.

export interface StorageStores {
  readonly files: ObjectStore
  readonly workflows: Workflows
  readonly removals: FolderRemovals
}

export interface Requester {
  readonly author: Author
  readonly deadline: Deadline
  /** Skips the lookup without case (S-7). */
  readonly isCaseSensitive?: boolean
  readonly conditions?: Conditions
}

/** Keys that must be free, each with the error when it is not. */
export type Absences = readonly (readonly [key: string, error: ErrorName])[]

/** Changes that become visible together, and their conditions. */
export interface Plan {
  readonly site: SiteId
  /** Neither these nor their ancestors may be locked. */
  readonly paths: readonly StoragePath[]
  readonly changes: readonly Change[]
  readonly absent: Absences
  readonly matching?: readonly Expected[]
  readonly checkAgain?: () => Promise<readonly Expected[]>
  readonly entry: Pick<HistoryEntry, 'type' | 'subject' | 'details'>
  /** The caller's own lock on the folder. */
  readonly lockId?: string
  readonly removedFolder?: RemovedFolder | undefined
}

export const noFileAbove = (site: SiteId, path: StoragePath): Absences => noFileAt(site, ancestorsOf(path))

export const noFileAt = (site: SiteId, folders: readonly StoragePath[]): Absences =>
  folders.map((folder) => [fileKey('live', site, folder), 'pathUnknown'])

/** Waits for all calls, then throws the first error in their order. */
export const allInOrder = async <Results extends readonly unknown[]>(
  calls: readonly [...{ [Index in keyof Results]: Promise<Results[Index]> }],
): Promise<Results> => {
  await Promise.allSettled(calls)
  for (const call of calls) await call
  return Promise.all(calls) as Promise<Results>
}

const foldersAround = (paths: readonly StoragePath[]): readonly StoragePath[] =>
  [...new Set(paths.flatMap((path) => [...ancestorsOf(path), path]))].filter((path) => path !== root)

export const findOccupied = async (
  { files }: Pick<StorageStores, 'files'>,
  absent: Absences,
): Promise<ErrorName | undefined> => {
  const found = await Promise.all(
    absent.map(([key]) => (key.endsWith('/') ? files.exists(key) : files.find(key).then((info) => info !== undefined))),
  )
  return absent.find((_, index) => found[index])?.[1]
}

/** Makes the checks of `place` before a body is read. */
export const refuseOccupied = async (stores: Pick<StorageStores, 'files'>, absent: Absences): Promise<void> => {
  const error = await findOccupied(stores, absent)
  if (error) throw new ServiceError(error)
}

/** Errors: folderLocked. */
export const refuseRemovals = async (
  removals: FolderRemovals,
  site: SiteId,
  paths: readonly StoragePath[],
): Promise<void> => {
  if ((await removals.openOf(site, foldersAround(paths))).length > 0) throw new ServiceError('folderLocked')
}

interface Target {
  readonly site: SiteId
  readonly path: StoragePath
  /** The folders to create: the ancestors by default. */
  readonly foldersOf?: (path: StoragePath) => readonly StoragePath[]
}

interface Resolved<Looked> {
  readonly path: StoragePath
  readonly ancestors: Ancestors
  readonly looked: Promise<Looked>
}

/**
 * Resolves the path of a change (S-5). `look` runs beside it, and once more for another spelling. Errors: folderLocked,
 * urlInvalid.
 */
export const resolve = async <Looked>(
  stores: StorageStores,
  target: Target,
  isCaseSensitive: boolean | undefined,
  look: (path: StoragePath) => Promise<Looked>,
): Promise<Resolved<Looked>> => {
  const { files, removals } = stores
  const { site, path, foldersOf = ancestorsOf } = target
  const looked = look(path)
  looked.catch(() => {})
  const [ancestors] = await allInOrder([
    findAncestors(files, site, foldersOf(path)),
    refuseRemovals(removals, site, [path]),
  ])
  const found = isCaseSensitive ? path : await resolvePath(files, site, path, ancestors)
  return found === path ? { path, ancestors, looked } : resolve(stores, { ...target, path: found }, true, look)
}

export type Placed = Exclude<PlaceResult['outcome'], 'locked' | 'occupied'>

/**
 * One attempt. Nothing was changed when a source has changed (`stale`), a condition fails (`changed`) or the time is up
 * (`late`). Errors: folderLocked, those of `absent`.
 */
export const place = async (
  { files }: Pick<StorageStores, 'files'>,
  { site, paths, changes, absent, matching = [], entry, lockId, removedFolder }: Plan,
  { author, deadline }: Requester,
  ancestors: Ancestors = { existing: undefined, missing: [] },
): Promise<Placed> => {
  const { existing, missing } = ancestors
  const created = missing.map((folder): Change => ({ kind: 'folder', key: folderKey('live', site, folder) }))
  const vacant = [...absent, ...noFileAt(site, missing)]
  const conditions = {
    absent: vacant.map(([key]) => key),
    unlocked: { site, folders: foldersAround(paths), lockId },
    present: existing === undefined ? [] : [folderKey('live', site, existing)],
    matching,
    deadline,
    removedFolder,
  }
  const result = await files.place([...created, ...changes], conditions, { ...author, site, ...entry })
  if (result.outcome === 'locked') throw new ServiceError('folderLocked')
  if (result.outcome === 'occupied') {
    throw new ServiceError(vacant.find(([key]) => key === result.key)?.[1] ?? 'destinationExists')
  }
  return result.outcome
}

const mostAttempts = 10

/** Errors: unavailable (the time is up, or every attempt met a change). */
export const retry = async (attempt: () => Promise<Placed>): Promise<void> => {
  for (let count = 0; count < mostAttempts; count++) {
    const outcome = await attempt()
    if (outcome === 'placed') return
    if (outcome === 'late') break
  }
  throw new ServiceError('unavailable')
}

/** Creates missing `folders` too. Errors: those of `place`, `checkAgain` and `retry`. */
export const carryOut = async (
  stores: Pick<StorageStores, 'files'>,
  plan: Plan,
  requester: Requester,
  folders: readonly StoragePath[],
  found: Ancestors,
): Promise<void> => {
  let { matching } = plan
  let ancestors: Ancestors | undefined = found
  await retry(async () => {
    ancestors ??= await findAncestors(stores.files, plan.site, folders)
    const outcome = await place(stores, { ...plan, ...(matching && { matching }) }, requester, ancestors)
    ancestors = undefined
    if (outcome === 'changed' && plan.checkAgain) matching = await plan.checkAgain()
    return outcome
  })
}
