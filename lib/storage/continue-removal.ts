import type { Clock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { inParallel } from '../core/in-parallel.ts'
import type { FolderRemovals, RemovalTask } from './folder-removals.ts'
import { listAll, type ObjectStore } from './object-store.ts'
import { folderKey, type StoragePath } from './path.ts'

/** What a worker needs that goes on with the removal of a folder. */
export interface ContinueDeps {
  readonly files: ObjectStore
  readonly removals: FolderRemovals
  readonly clock: Clock
}

/** A task as the queue delivers it, with the name that `RemovalQueue.send` has answered for it. */
export interface RemovalMessage {
  readonly task: RemovalTask
  readonly name: string
}

/** The time that a worker has for a removal. */
export interface Slice {
  /** When to begin nothing more, on the monotonic clock. */
  readonly deadline: number
  /** After how many milliseconds the worker has ended, whatever happens. */
  readonly end: number
}

/** What is left to do for whoever has a message: the same task again, after so many seconds. */
export interface Rest {
  readonly delay: number
}

/**
 * How many listings are deleted at once, while the next one is asked for. S3 takes 3,500 writes a second below one prefix: two batches of
 * 1,000 keys that take about half a second each come near that, and more of them would be refused (`SlowDown`).
 */
const removalsInFlight = 2

/** Goes on until the time is up: with the first one at least. */
async function* inTime<Value>(values: AsyncIterable<Value>, isTimeUp: () => boolean): AsyncGenerator<Value, void> {
  for await (const value of values) {
    yield value
    if (isTimeUp()) return
  }
}

/** What it takes to remove everything below a prefix. */
type Emptied = Pick<ObjectStore, 'list' | 'exists' | 'remove'>

/** Removes everything below a prefix. Answers false when the time is up before that. */
const emptyPrefix = async (store: Emptied, prefix: string, isTimeUp: () => boolean): Promise<boolean> => {
  await inParallel(inTime(listAll(store, prefix), isTimeUp), removalsInFlight, (objects) =>
    store.remove(objects, undefined),
  )
  // What has come or been replaced meanwhile is found by another round.
  if (!(await store.exists(prefix))) return true
  return isTimeUp() ? false : emptyPrefix(store, prefix, isTimeUp)
}

/** Removes all that a folder holds, drafts included, and the folder. Answers whether it is all gone. */
export const emptyFolder = async (
  store: Emptied,
  site: SiteId,
  folder: StoragePath,
  isTimeUp: () => boolean,
): Promise<boolean> =>
  (await emptyPrefix(store, folderKey('draft', site, folder), isTimeUp)) &&
  emptyPrefix(store, folderKey('live', site, folder), isTimeUp)

/** Answers whether so many milliseconds have passed: by the one clock or the other, of which one may stand still in a frozen function. */
const startStopwatch = ({ wall, monotonic }: Clock, duration: number): (() => boolean) => {
  const begun = { wall: wall(), monotonic: monotonic() }
  return () => Math.max(wall() - begun.wall, monotonic() - begun.monotonic) >= duration
}

/**
 * What whoever has a message of a removal does with it: a slice of the work, when nobody else is at it. Answers what is left to do for that
 * message, if anything. A removal has one message that counts: whoever works on it comes back to it, or the queue delivers his message again.
 * Any other one is worked off as it is; so is one whose removal is closed, or is not the folder's present one.
 */
export const continueRemoval = async (
  { files, removals, clock }: ContinueDeps,
  { task, name }: RemovalMessage,
  { deadline, end }: Slice,
): Promise<Rest | undefined> => {
  const { site, path, id } = task
  const isOver = startStopwatch(clock, end)
  const taken = await removals.take(task, name, end)
  if (taken.outcome === 'over') return undefined
  if (taken.outcome === 'held') {
    // The same message once more: its worker may be dead, and must have ended before anybody can tell.
    return taken.holder === name ? { delay: Math.ceil(taken.left / 1000) } : undefined
  }
  let removed = 0
  // A function that was frozen in the middle may be thawed when others have finished the removal, and the folder holds new files.
  const heldFiles: ObjectStore = {
    ...files,
    remove: async (objects, ...options) => {
      if (isOver()) throw new ServiceError('unavailable')
      await files.remove(objects, ...options)
      removed += objects.length
    },
  }
  let isDone = false
  try {
    if (await emptyFolder(heldFiles, site, path, () => clock.monotonic() >= deadline)) {
      await removals.close(site, path, id, removed)
      isDone = true
    }
  } finally {
    if (!isDone) await removals.giveBack(task, name, removed)
  }
  return isDone ? undefined : { delay: 0 }
}
