import { randomUUID } from 'node:crypto'
import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { inParallel } from '../core/in-parallel.ts'
import type { Clock, Deadline } from '../core/time.ts'
import { listAll } from './many-objects.ts'
import type { ObjectStore, RemovalTask } from './object-store.ts'
import { editions, folderKey, type StoragePath } from './path.ts'
import type { FolderRemovals } from './path-locks.ts'

export interface ContinueDeps {
  readonly files: ObjectStore
  readonly removals: FolderRemovals
  readonly clock: Clock
}

export interface RemovalMessage {
  readonly task: RemovalTask
  readonly name: string
}

// In seconds: the delay before the task is repeated.
export interface Rest {
  readonly delay: number
}

// S3 accepts 3,500 writes a second below one prefix. Two concurrent batches, each with 1,000 keys in half a second,
// nearly reach this limit.
const removalsInFlight = 2

type Emptied = Pick<ObjectStore, 'list' | 'exists' | 'remove'>

interface Progress {
  after?: string | undefined
}

const removePages = async (store: Emptied, prefix: string, isTimeUp: () => boolean, progress: Progress) => {
  let isCut = false
  const pages: { readonly last: string; isRemoved: boolean }[] = []
  const from = progress.after?.startsWith(prefix) ? progress.after : undefined
  const untilTimeUp = async function* () {
    let isFirst = true
    for await (const objects of listAll(store, prefix, from)) {
      isCut = !isFirst && isTimeUp()
      if (isCut) return
      isFirst = false
      yield objects
    }
  }
  await inParallel(untilTimeUp(), removalsInFlight, async (objects) => {
    const last = objects.at(-1)?.key
    if (last === undefined) return
    const page = { last, isRemoved: false }
    pages.push(page)
    await store.remove(objects)
    page.isRemoved = true
    while (pages[0]?.isRemoved) progress.after = pages.shift()?.last
  })
  return !isCut
}

export const emptyFolder = async (
  store: Emptied,
  site: SiteId,
  folder: StoragePath,
  isTimeUp: () => boolean,
  progress: Progress = {},
): Promise<boolean> => {
  const prefixes = editions.map((edition) => folderKey(edition, site, folder)).sort()
  for (const prefix of prefixes) {
    const { after = '' } = progress
    const isPassed = after > prefix && !after.startsWith(prefix)
    if (!isPassed && !(await removePages(store, prefix, isTimeUp, progress))) return false
  }
  const isLeft = await Promise.all(prefixes.map((prefix) => store.exists(prefix)))
  if (!isLeft.includes(true)) return true
  // Other requests may have added objects meanwhile, even before the last removed key, so the folder is listed once
  // more.
  progress.after = undefined
  return isTimeUp() ? false : emptyFolder(store, site, folder, isTimeUp, progress)
}

/**
 * Continues a removal until the deadline, unless another worker has its lease. The worker ends within `end`
 * milliseconds. Returns undefined when the work of this message is done: the folder no longer exists, the removal is
 * closed, or another message has the lease.
 */
export const continueRemoval = async (
  { files, removals, clock: { wall, monotonic } }: ContinueDeps,
  { task, name }: RemovalMessage,
  deadline: Deadline,
  end: number,
): Promise<Rest | undefined> => {
  const { site, path, id } = task
  const begun = { wall: wall(), monotonic: monotonic() }
  // Two clocks, because one of them may stop while a function is frozen.
  const isOver = () => Math.max(wall() - begun.wall, monotonic() - begun.monotonic) >= end
  const ofMessage = `${name} `
  const holder = `${ofMessage}${randomUUID()}`
  const taken = await removals.take(task, holder, end)
  if (taken.outcome === 'gone') return undefined
  if (taken.outcome === 'held') {
    // The queue delivered the message twice. Only waiting can show whether the earlier worker of the message is dead.
    return taken.holder.startsWith(ofMessage) ? { delay: Math.ceil(taken.left / 1000) } : undefined
  }
  let removed = 0
  const progress: Progress = { after: taken.after }
  // A frozen function may continue after others have finished the removal, and would then remove new files of the
  // folder.
  const guardedFiles: ObjectStore = {
    ...files,
    remove: async (objects) => {
      if (isOver()) throw new ServiceError('unavailable')
      const removal = await files.remove(objects, { step: task })
      removed += objects.length - removal.spared.size
      return removal
    },
  }
  let isDone = false
  try {
    if (await emptyFolder(guardedFiles, site, path, deadline.isOver, progress)) {
      await removals.close(site, path, id, removed)
      isDone = true
    }
  } finally {
    if (!isDone) await removals.giveBack(task, holder, removed, progress.after)
  }
  return isDone ? undefined : { delay: 0 }
}
