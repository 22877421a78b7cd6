import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { ServiceError } from '../errors.ts'
import type { Author, ChangeType, HistoryEntry } from '../history-entry.ts'
import type { SiteId } from '../ids.ts'
import { inParallel } from '../in-parallel.ts'
import { isPage } from './file-kind.ts'
import type { RemovalQueue, RemovalTask } from './folder-removals.ts'
import type { ListedObject, ObjectInfo, ObjectStore, RemainingTime } from './object-store.ts'
import { listAll, longestListing } from './object-store.ts'
import { ancestorsOf, fileKey, folderKey, root, type StoragePath } from './path.ts'
import { noFileOnTheWay, refuseRivals, type StorageStores } from './put-in-place.ts'

/** What a worker needs that goes on with the removal of a folder. */
export type ContinueDeps = Pick<StorageStores, 'files' | 'removals'> & { readonly clock: Clock }

export interface RemoveDeps extends StorageStores {
  readonly removalQueue: RemovalQueue
  readonly reservedFolders: readonly string[]
  readonly clock: Clock
}

export interface RemoveOptions {
  readonly draftOnly: boolean
  /** Whether a folder goes with what it holds. */
  readonly withContents: boolean
  /** Milliseconds that a removal may take before the rest of it is left to the queue. */
  readonly patience: number
  readonly author: Author
  /** Of the whole request: nothing of the removal of a file, or of a small folder, goes on behind it. */
  readonly remainingTime: RemainingTime
}

const entryOf = (type: ChangeType, site: SiteId, path: StoragePath, author: Author): HistoryEntry => ({
  ...author,
  site,
  type,
  subject: path,
})

/** What is left to do when a removal is answered. */
export type RemoveOutcome = 'removed' | 'going on'

/** By when the queue takes over from a request that has died, in seconds: later than any request ends by itself. */
const takeover = 60

const removeFile = async (
  { files, workflows }: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  { live, draft }: { readonly live: ObjectInfo | undefined; readonly draft: ObjectInfo | undefined },
  { draftOnly, author, remainingTime }: RemoveOptions,
): Promise<void> => {
  if (isPage(path) && (await workflows.isRunning(site, [path]))) throw new ServiceError('workflowDeleted')
  const versions = draftOnly && isPage(path) ? [draft] : [live, draft]
  await files.remove(
    versions.filter((version) => version !== undefined),
    entryOf('file.removed', site, path, author),
    remainingTime,
  )
}

/** Everything of a folder that fits in one listing per area; undefined when it does not. */
const listSmall = async ({ files }: RemoveDeps, site: SiteId, folder: StoragePath) => {
  const listings = await Promise.all(
    (['live', 'draft'] as const).map((area) =>
      files.list({ prefix: folderKey(area, site, folder), folded: false, limit: longestListing }),
    ),
  )
  if (listings.some(({ next }) => next !== undefined)) return undefined
  return listings.flatMap(({ objects }) => objects)
}

const isEmpty = (objects: readonly ListedObject[] | undefined, self: string): boolean =>
  objects?.every(({ key }) => key === self) ?? false

/** How many listings are deleted at once, while the next one is asked for. */
const removalsInFlight = 4

/** Goes on until the time is up: with the first one at least. */
async function* inTime<Value>(values: AsyncIterable<Value>, isTimeUp: () => boolean): AsyncGenerator<Value, void> {
  for await (const value of values) {
    yield value
    if (isTimeUp()) return
  }
}

/** Removes everything below a prefix. Answers false when the time is up before that. */
const emptyPrefix = async (store: ObjectStore, prefix: string, isTimeUp: () => boolean): Promise<boolean> => {
  await inParallel(inTime(listAll(store, prefix), isTimeUp), removalsInFlight, (objects) =>
    store.remove(objects, undefined),
  )
  // What has come or been replaced meanwhile is found by another round.
  if (!(await store.exists(prefix))) return true
  return isTimeUp() ? false : emptyPrefix(store, prefix, isTimeUp)
}

/** Removes all that a folder holds, drafts included, and the folder. Answers whether it is all gone. */
export const emptyFolder = async (
  store: ObjectStore,
  site: SiteId,
  folder: StoragePath,
  isTimeUp: () => boolean,
): Promise<boolean> =>
  (await emptyPrefix(store, folderKey('draft', site, folder), isTimeUp)) &&
  emptyPrefix(store, folderKey('live', site, folder), isTimeUp)

/** Removes what a slice of time allows, and closes the removal when all is gone. Answers whether it is. */
const continueUntil = async (
  { files, removals, clock }: ContinueDeps,
  { site, path, id }: RemovalTask,
  deadline: number,
): Promise<boolean> => {
  const done = await emptyFolder(files, site, path, () => clock.monotonic() >= deadline)
  if (done) await removals.close(site, path, id)
  return done
}

/** A folder of any size: the removal is on record, and in the queue, before the first file goes. */
const removeLargeFolder = async (
  deps: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  { patience, author }: RemoveOptions,
): Promise<RemoveOutcome> => {
  const deadline = deps.clock.monotonic() + patience
  const task: RemovalTask = { site, path, id: randomUUID() }
  // The message comes first: without a removal on record it is harmless, while a removal without a message might never end.
  await deps.removalQueue.send(task, takeover)
  const entry = entryOf('folder.removed', site, path, author)
  if ((await deps.removals.open(site, path, task.id, entry)) !== task.id) return 'going on'
  if (await continueUntil(deps, task, deadline)) return 'removed'
  await deps.removalQueue.send(task, 0)
  return 'going on'
}

const removeFolder = async (
  deps: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  options: RemoveOptions,
): Promise<RemoveOutcome> => {
  if (deps.reservedFolders.includes(path)) throw new ServiceError('folderReserved')
  const objects = await listSmall(deps, site, path)
  if (objects?.length === 0) {
    await refuseRivals(deps, noFileOnTheWay(site, path))
    throw new ServiceError('fileUnknown')
  }
  if (!options.withContents && !isEmpty(objects, folderKey('live', site, path)))
    throw new ServiceError('folderNotEmpty')
  if (await deps.workflows.isRunningBelow(site, path)) throw new ServiceError('workflowDeleted')
  if (!objects) return removeLargeFolder(deps, site, path, options)
  await deps.files.remove(objects, entryOf('folder.removed', site, path, options.author), options.remainingTime)
  return 'removed'
}

/**
 * Operation 14: removes a file with its draft, a draft alone, or a folder with all that it holds. Errors: nameRequired (the root),
 * fileUnknown, pathUnknown, folderGoing, folderReserved, folderNotEmpty, workflowDeleted.
 */
export const remove = async (
  deps: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  options: RemoveOptions,
): Promise<RemoveOutcome> => {
  if (path === root) throw new ServiceError('nameRequired', { message: 'The root folder of a site cannot be deleted.' })
  const going = await deps.removals.openOf(site, [...ancestorsOf(path), path])
  if (going.some((removal) => removal.path !== path)) throw new ServiceError('folderGoing')
  const [same] = going
  if (same) {
    // Asked for once more, in case that its message was lost.
    await deps.removalQueue.send({ site, path, id: same.id }, 0)
    return 'going on'
  }
  const [live, draft] = await Promise.all([
    deps.files.find(fileKey('live', site, path)),
    isPage(path) ? deps.files.find(fileKey('draft', site, path)) : undefined,
  ])
  if (!live && !draft) return removeFolder(deps, site, path, options)
  await removeFile(deps, site, path, { live, draft }, options)
  return 'removed'
}

/**
 * What the queue's worker does with a task: a slice of the work, until the deadline on the monotonic clock. Answers whether there is nothing left to do; a task whose
 * removal is closed, or is not the folder's present one, is worked off as it is.
 */
export const continueRemoval = async (deps: ContinueDeps, task: RemovalTask, deadline: number): Promise<boolean> => {
  const [removal] = await deps.removals.openOf(task.site, [task.path])
  if (removal?.id !== task.id) return true
  return continueUntil(deps, task, deadline)
}
