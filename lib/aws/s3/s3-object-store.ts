import { ServiceError } from '../../core/errors.ts'
import { unlimited } from '../../core/remaining-time.ts'
import {
  type Change,
  NotPlaced,
  type ObjectStore,
  type PlaceConditions,
  type PlaceOutcome,
  type Staged,
} from '../../storage/object-store.ts'
import { timeToAnswer } from '../calls/in-time.ts'
import { createTimeLimit, type TimeLimit } from '../calls/time-limit.ts'
import type { RecordChange } from '../dynamodb/journal.ts'
import type { FolderWatch, WatchedRemovals } from '../dynamodb/path-locks.ts'
import { type Bucket, openBucket, until } from './bucket.ts'
import { deleteAll } from './deleting.ts'
import { existsBelow, findChanged, findObject, findRival, listObjects } from './looking.ts'
import { createPartBuffers, type PartBuffers } from './part-buffers.ts'
import { changesKey, createPlacing } from './placing.ts'
import { readObject } from './reading.ts'
import { listRemoved, listRemovedWithin } from './removed.ts'
import { abortUpload, createMemoryBudget, type StagedBody, stageBody } from './staging.ts'
import { countKept, listVersions, readVersion } from './versions.ts'

interface Options extends Pick<Bucket, 'client' | 'once'> {
  /** It must keep versions: they are what a change is taken back with. */
  readonly bucket: string
  /** What is asked whether a folder is being removed. */
  readonly removals: Pick<WatchedRemovals, 'watch'>
  readonly record: RecordChange
  /** Bytes of small files that may wait in memory, for all requests together. */
  readonly memory?: number
  /** What all uploads of the process have their parts in. */
  readonly buffers?: PartBuffers
}

const defaultMemory = 32 * 1024 * 1024

/** What is kept of a request's time when nothing may be done any more, for telling the caller; in milliseconds. */
const timeToReturn = timeToAnswer + 500

/**
 * What is kept besides for finding out what was made and for taking it back, in milliseconds: in all, for each change, and for a look at each object
 * that nothing hides any more.
 */
const timeToUndo = (changes: readonly Change[]): number =>
  3_000 + 0.6 * changes.length + 0.7 * changes.filter((change) => change.kind === 'restore' && change.hiddenBy).length

/** The object store in a bucket, and what uploads that come piece by piece need of it. */
export interface S3ObjectStore extends ObjectStore {
  /** Stages what waits in the bucket, or in memory, as it is: who brings it says what becomes of it. Errors: unavailable (memory is full). */
  adopt(body: StagedBody): Staged
}

/** The object store in a bucket of S3, or of anything that speaks like it. */
export const createS3ObjectStore = ({
  client,
  once,
  bucket: name,
  removals,
  record,
  memory = defaultMemory,
  buffers = createPartBuffers(),
}: Options): S3ObjectStore => {
  const bucket = openBucket({ client, once, name })
  const budget = createMemoryBudget(memory)
  const waiting = new Map<Staged, StagedBody>()
  const bodyOf = (staged: Staged): StagedBody => {
    const body = waiting.get(staged)
    if (!body) throw new Error('These bytes do not wait in this store')
    return body
  }
  const letGo = (staged: Staged): StagedBody | undefined => {
    const body = waiting.get(staged)
    if (waiting.delete(staged) && body?.content.kind === 'memory') budget.release(body.size)
    return body
  }

  /** Errors: NotPlaced. */
  const look = async (
    doing: Bucket,
    limit: TimeLimit,
    { absent, staying, matching = [] }: PlaceConditions,
  ): Promise<FolderWatch> => {
    const watching = removals.watch(staying.site, staying.folders, staying.holding)
    const [watch, rival, changed] = await Promise.all([
      limit.wait(watching),
      findRival(doing, absent),
      findChanged(doing, matching),
    ])
    if (watch.isGoing) throw new NotPlaced({ outcome: 'going' })
    if (changed !== undefined) throw new NotPlaced({ outcome: 'changed', key: changed })
    if (rival !== undefined) throw new NotPlaced({ outcome: 'rival', key: rival })
    return watch
  }

  /** Of two that did not see each other before, at least one sees the other now. Errors: NotPlaced. */
  const lookAgain = async (
    doing: Bucket,
    limit: TimeLimit,
    { absent, standing = [], matching = [] }: PlaceConditions,
    { watch, changes }: { readonly watch: FolderWatch; readonly changes: readonly Change[] },
  ): Promise<void> => {
    // What has just been put there is no rival of itself.
    const isOwn = (key: string) =>
      changes.some((change) => change.key === key || (key.endsWith('/') && change.key.startsWith(key)))
    const others = absent.filter((key) => !isOwn(key))
    // The others were compared by the very calls that changed them.
    const unchanged = matching.filter(({ key }) => !changes.some((change) => changesKey(change, key)))
    const [hasChanged, rival, there, changed] = await Promise.all([
      limit.wait(watch.hasChanged()),
      findRival(doing, others),
      Promise.all(standing.map((key) => findObject(doing, key))),
      findChanged(doing, unchanged),
    ])
    const gone = standing.find((_, index) => !there[index])
    if (changed !== undefined) throw new NotPlaced({ outcome: 'changed', key: changed })
    if (hasChanged) throw new NotPlaced({ outcome: 'going' })
    if (rival !== undefined) throw new NotPlaced({ outcome: 'rival', key: rival })
    if (gone !== undefined) throw new NotPlaced({ outcome: 'stale', key: gone })
  }

  const placeAll = async (
    changes: readonly Change[],
    conditions: PlaceConditions,
  ): Promise<{ readonly outcome: PlaceOutcome; readonly hasChanged: boolean }> => {
    const { remainingTime = unlimited } = conditions
    const limit = createTimeLimit(remainingTime, timeToReturn + timeToUndo(changes))
    const undoLimit = createTimeLimit(remainingTime, timeToReturn)
    const doing = until(bucket, limit.signal)
    const undoing = until(bucket, undoLimit.signal)
    const placing = createPlacing({ doing, undoing, isTimeUp: limit.isUp, bodyOf, conditions })
    try {
      const watch = await look(doing, limit, conditions)
      await placing.apply(changes)
      await lookAgain(doing, limit, conditions, { watch, changes })
    } catch (error) {
      const isCut = limit.signal.aborted && !(error instanceof NotPlaced)
      const failure = await placing.undo(isCut ? new NotPlaced({ outcome: 'late' }) : error)
      if (failure instanceof NotPlaced) return { outcome: failure.outcome, hasChanged: false }
      throw failure
    } finally {
      limit.end()
      undoLimit.end()
    }
    for (const change of changes) if (change.kind === 'put') letGo(change.staged)
    return { outcome: { outcome: 'placed' }, hasChanged: placing.hasChanged(changes) }
  }

  return {
    find: (key) => findObject(bucket, key),

    exists: (prefix) => existsBelow(bucket, prefix),

    list: (query) => listObjects(bucket, query),

    // S3 makes it while the bytes come in.
    fingerprintOf: async ({ fingerprint }) => fingerprint,

    read: (key, choose, expected) => readObject(bucket, key, choose, expected),

    versions: (key, query) => listVersions(bucket, key, query),

    readVersion: (key, id, choose) => readVersion(bucket, key, id, choose),

    listRemoved: (query) => listRemoved(bucket, query),

    keptBelow: (prefix) => countKept(bucket, prefix),

    removedWithin: (prefix, period) => listRemovedWithin(bucket, prefix, period),

    async stage(content, target) {
      const body = await stageBody(bucket, { memory: budget, buffers }, content, target)
      const staged: Staged = {
        size: body.size,
        async discard() {
          const { content } = letGo(staged) ?? {}
          if (content?.kind === 'upload') await abortUpload(bucket, content.key, content.uploadId)
        },
      }
      waiting.set(staged, body)
      return staged
    },

    adopt(body) {
      if (body.content.kind === 'memory' && !budget.reserve(body.size)) throw new ServiceError('unavailable')
      const staged: Staged = { size: body.size, discard: async () => void letGo(staged) }
      waiting.set(staged, body)
      return staged
    },

    async place(changes, conditions, entry) {
      const { outcome, hasChanged } = await placeAll(changes, conditions)
      if (hasChanged) await record(entry, conditions.remainingTime)
      return outcome
    },

    async remove(objects, entry, remainingTime = unlimited) {
      const limit = createTimeLimit(remainingTime, timeToReturn)
      try {
        await deleteAll(
          until(bucket, limit.signal),
          objects.map(({ key, version }) => ({ kind: 'object', key, tag: version })),
        )
      } catch (error) {
        throw limit.signal.aborted ? new ServiceError('unavailable', { cause: error }) : error
      } finally {
        limit.end()
      }
      if (entry && objects.length > 0) await record(entry, remainingTime)
    },
  }
}
