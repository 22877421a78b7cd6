import { randomUUID } from 'node:crypto'
import type { ErrorName } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { type CheckedConditions, checkConditions, checkFolder, isUnconditional } from '../conditions.ts'
import { isPage } from '../file-kind.ts'
import type { ObjectStore } from '../object-store.ts'
import { ancestorsOf, childOf, fileKey, folderKey, foldersAround, parentOf, root, type StoragePath } from '../path.ts'
import type { FolderLocks } from '../path-locks.ts'
import { refuse } from '../refusals.ts'
import { type Ancestors, findAncestors, resolvePath } from '../resolve-path.ts'
import type { Absences, ChangeDeps, Placement, Plan, Requester, StorageStores } from './change.ts'
import { noFileAt } from './change.ts'

/**
 * Only pages have drafts: for other files, `asDraft` means the live file (S-20). A form keeps the draft, but publishing
 * removes it (S-48). `into` is the folder that the client named for an upload. It may be the path of the file, because
 * some clients add the file name (S-34).
 */
export interface Place {
  readonly site: SiteId
  readonly path: StoragePath
  readonly kind: 'file' | 'folder' | 'files'
  readonly asDraft?: boolean
  readonly keepsDraft?: boolean
  readonly isNew?: boolean
  readonly names?: readonly string[] | undefined
  readonly into?: StoragePath | undefined
}

/**
 * `taken` has the errors of the keys that must be free, but are taken. `locks` is undefined when a later change must
 * read the locks again, because this state may be too old.
 */
export interface Seen {
  readonly place: Place
  readonly ancestors: Ancestors
  readonly locks: FolderLocks['ids'] | undefined
  readonly taken: ReadonlySet<ErrorName>
  readonly checked: CheckedConditions
}

export const findTaken = async (files: ObjectStore, absent: Absences): Promise<readonly ErrorName[]> => {
  const found = await Promise.all(absent.map(([key]) => files.find(key)))
  return absent.filter((_, index) => found[index]).map(([, error]) => error)
}

export const findFile = async ({ files }: Pick<StorageStores, 'files'>, site: SiteId, path: StoragePath) => {
  const [live, draft] = await Promise.all([
    path === root ? undefined : files.find(fileKey('live', site, path)),
    isPage(path) ? files.find(fileKey('draft', site, path)) : undefined,
  ])
  return { live, draft }
}

export const isBelowFile = async ({ files }: StorageStores, site: SiteId, path: StoragePath) =>
  (await findTaken(files, noFileAt(site, ancestorsOf(path)))).length > 0

export const openLocks = async ({ removals }: StorageStores, site: SiteId, paths: readonly StoragePath[]) =>
  (await removals.locksOf(site, foldersAround(paths))).open

export const isLocked = async (stores: StorageStores, site: SiteId, paths: readonly StoragePath[]) => {
  const below = paths.map((path) => stores.removals.isOpenBelow(site, path))
  const [open, ...isOpenBelow] = await Promise.all([openLocks(stores, site, paths), ...below])
  return open.length > 0 || isOpenBelow.includes(true)
}

export const isInWorkflow = async ({ workflows }: StorageStores, site: SiteId, paths: readonly StoragePath[]) => {
  const pages = paths.filter(isPage)
  return pages.length > 0 && workflows.isRunning(site, pages)
}

export const isRunningAt = async (stores: StorageStores, site: SiteId, path: StoragePath, isFile: boolean) =>
  isFile ? isInWorkflow(stores, site, [path]) : stores.workflows.isRunningBelow(site, path)

export const pathsOf = ({ path, kind, names = [] }: Place): readonly StoragePath[] =>
  kind === 'file' ? [path] : names.map((name) => childOf(path, name))

/** S-42: the path of the folder is taken by a file. S-43: the name of a file is taken by a folder. */
export const absencesOf = (place: Place): Absences => {
  const { site, path, into = path, isNew } = place
  const paths = pathsOf(place)
  const isInFolder = paths.length > 0 && into !== root && !paths.includes(into)
  return [
    ...(isInFolder ? noFileAt(site, [into], 'folderUnknown') : []),
    ...paths.map((one) => [folderKey('live', site, one), 'destinationExists'] as const),
    ...(isNew ? [[fileKey('live', site, path), 'destinationExists'] as const] : []),
  ]
}

const spelled = (place: Place, path: StoragePath): Place => ({
  ...place,
  path,
  ...(place.into !== undefined && { into: place.into === place.path ? path : parentOf(path) }),
})

const foldersOf = ({ path, kind }: Place) => (kind === 'files' ? foldersAround([path]) : ancestorsOf(path))

const checkPlace = (files: ObjectStore, place: Place, { conditions }: Requester): Promise<CheckedConditions> =>
  place.kind === 'folder'
    ? checkFolder(files, place.site, place.path, conditions)
    : checkConditions(files, place.site, pathsOf(place), place.asDraft ?? false, conditions)

const lookAsWritten = async (stores: StorageStores, place: Place, requester: Requester): Promise<Seen> => {
  const { files } = stores
  const { site, path } = place
  const [ancestors, locks, taken, checked] = await Promise.all([
    findAncestors(files, site, foldersOf(place)),
    stores.removals.locksOf(site, foldersAround([path])),
    findTaken(files, absencesOf(place)),
    checkPlace(files, { ...place, names: [] }, requester),
  ])
  refuse([locks.open.length > 0 && 'folderLocked'])
  return { place, ancestors, locks: locks.ids, taken: new Set(taken), checked }
}

/**
 * Reads everything that a change at this place depends on, in parallel calls. Errors: folderLocked; urlInvalid, if the
 * path is too long in the spelling of the store.
 */
export const look = async (stores: StorageStores, place: Place, requester: Requester): Promise<Seen> => {
  const { files } = stores
  const { site, path, kind, names } = place
  const written = await lookAsWritten(stores, place, requester)
  const found = requester.isCaseSensitive ? path : await resolvePath(files, requester, path, written.ancestors)
  const seen = found === path ? written : await lookAsWritten(stores, spelled(place, found), requester)
  // Without conditions, the creation of the folder itself finds a file above it.
  if (kind === 'folder' && isUnconditional(requester.conditions)) return seen
  const { missing } = seen.ancestors
  const above = missing.filter((folder) => folder !== found)
  const unseen = names ? [] : missing.filter((folder) => folder === found)
  const more = await findTaken(files, [...noFileAt(site, above), ...noFileAt(site, unseen, 'folderUnknown')])
  return { ...seen, taken: new Set([...seen.taken, ...more]) }
}

export const lookAgain = async ({ files }: StorageStores, seen: Seen, requester: Requester): Promise<Seen> => {
  const { place } = seen
  const [ancestors, checked] = await Promise.all([
    findAncestors(files, place.site, foldersOf(place)),
    checkPlace(files, place, requester),
  ])
  return { ...seen, locks: undefined, ancestors, checked }
}

export const planAt = (
  { place, ancestors, checked }: Seen,
  own: Omit<Placement, 'paths' | 'ancestors' | 'matching'>,
): Plan => checked.refusal ?? { ...own, paths: [place.path], ancestors, matching: checked.matching }

// In milliseconds. The lock ends after `longestLock`. No change begins in the last `lockReserve` of this time.
const longestLock = 60_000
const lockReserve = 5_000

/**
 * Locks a path until the result is disposed of. The result has the deadline for changes under the lock. If two callers
 * lock a folder and a path in it, at least one of them sees the other lock. Errors: folderLocked.
 */
export const lockPath = async ({ removals, clock }: ChangeDeps, path: StoragePath, { site, deadline }: Requester) => {
  const id = randomUUID()
  const lockDeadline = deadline.within(longestLock - lockReserve, clock.monotonic)
  refuse([!(await removals.lock(site, path, id, longestLock)) && 'folderLocked'])
  await using locked = new AsyncDisposableStack()
  locked.defer(() => removals.unlock(site, path, id).catch(() => {}))
  const [{ open }, isBelow] = await Promise.all([
    removals.locksOf(site, ancestorsOf(path)),
    removals.isOpenBelow(site, path),
  ])
  refuse([(open.length > 0 || isBelow) && 'folderLocked'])
  return Object.assign(locked.move(), { id, deadline: lockDeadline })
}
