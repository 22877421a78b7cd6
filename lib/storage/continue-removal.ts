import type { Clock } from '../core/clock.ts'
import type { Deadline } from '../core/deadline.ts'
import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { inParallel } from '../core/in-parallel.ts'
import { listAll, type ObjectStore } from './object-store.ts'
import { folderKey, type StoragePath } from './path.ts'
import type { FolderRemovals, RemovalTask } from './path-locks.ts'

export interface ContinueDeps {
  readonly files: ObjectStore
  readonly removals: FolderRemovals
  readonly clock: Clock
}

export interface RemovalMessage {
  readonly task: RemovalTask
  readonly name: string
}

// Repeat the task after this delay, in seconds.
export interface Rest {
  readonly delay: number
}

// S3 accepts 3,500 writes a second below one prefix. Two batches of 1,000 keys in half a second come near that.
const removalsInFlight = 2

async function* untilTimeUp<Value>(values: AsyncIterable<Value>, isTimeUp: () => boolean): AsyncGenerator<Value, void> {
  for await (const value of values) {
    yield value
    if (isTimeUp()) return
  }
}

type Emptied = Pick<ObjectStore, 'list' | 'exists' | 'remove'>

const emptyPrefix = async (store: Emptied, prefix: string, isTimeUp: () => boolean): Promise<boolean> => {
  await inParallel(
    untilTimeUp(listAll(store, prefix), isTimeUp),
    removalsInFlight,
    async (objects) => void (await store.remove(objects, undefined)),
  )
  // Another round finds objects that were added meanwhile.
  if (!(await store.exists(prefix))) return true
  return isTimeUp() ? false : emptyPrefix(store, prefix, isTimeUp)
}

/** Removes a folder and its contents, drafts included. Returns true when nothing is left. */
export const emptyFolder = async (
  store: Emptied,
  site: SiteId,
  folder: StoragePath,
  isTimeUp: () => boolean,
): Promise<boolean> =>
  (await emptyPrefix(store, folderKey('draft', site, folder), isTimeUp)) &&
  emptyPrefix(store, folderKey('live', site, folder), isTimeUp)

// In a frozen function one of the two clocks may stop.
const startStopwatch = ({ wall, monotonic }: Clock, duration: number): (() => boolean) => {
  const begun = { wall: wall(), monotonic: monotonic() }
  return () => Math.max(wall() - begun.wall, monotonic() - begun.monotonic) >= duration
}

/**
 * Continues a removal until the deadline, unless another worker has its lease. The worker ends within `end`
 * milliseconds. Undefined: this message is done, because the folder is gone, the removal is closed, or another message
 * has the lease.
 */
export const continueRemoval = async (
  { files, removals, clock }: ContinueDeps,
  { task, name }: RemovalMessage,
  deadline: Deadline,
  end: number,
): Promise<Rest | undefined> => {
  const { site, path, id } = task
  const isOver = startStopwatch(clock, end)
  const taken = await removals.take(task, name, end)
  if (taken.outcome === 'gone') return undefined
  if (taken.outcome === 'held') {
    // The same message again: its previous worker may be dead, and only time can show this.
    return taken.holder === name ? { delay: Math.ceil(taken.left / 1000) } : undefined
  }
  let removed = 0
  // A frozen function may be thawed when others have finished the removal, and the folder contains new files.
  const guardedFiles: ObjectStore = {
    ...files,
    remove: async (objects, ...options) => {
      if (isOver()) throw new ServiceError('unavailable')
      const bytes = await files.remove(objects, ...options)
      removed += objects.length
      return bytes
    },
  }
  let isDone = false
  try {
    if (await emptyFolder(guardedFiles, site, path, deadline.isOver)) {
      await removals.close(site, path, id, removed)
      isDone = true
    }
  } finally {
    if (!isDone) await removals.giveBack(task, name, removed)
  }
  return isDone ? undefined : { delay: 0 }
}
