import { type Deadline, reserves, unlimited } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import {
  type Change,
  NotPlaced,
  type ObjectStore,
  type PlaceConditions,
  type PlaceResult,
  type RemovedFolder,
  type Staged,
} from '../../storage/object-store.ts'
import type { FolderLook, ObservedRemovals } from '../dynamodb/folder-removals.ts'
import type { RecordChange } from '../dynamodb/journal.ts'
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
  // It must keep versions: a change is taken back with them.
  readonly bucket: string
  readonly removals: Pick<ObservedRemovals, 'look' | 'begin' | 'note' | 'cancel'>
  readonly record: RecordChange
  // Bytes of small files that may wait in memory, for all requests together.
  readonly memory?: number
  // Shared by all uploads of the process.
  readonly buffers?: PartBuffers
}

const defaultMemory = 32 * 1024 * 1024

/** Reserved to tell the caller, in milliseconds. */
const timeToReturn = reserves.answer + 500

/**
 * Reserved to find and take back what was made, in milliseconds: 3 s, and more for each change and each uncovered
 * object.
 */
const timeToUndo = (changes: readonly Change[]): number =>
  3_000 + 0.6 * changes.length + 0.7 * changes.filter((change) => change.kind === 'restore' && change.hiddenBy).length

export interface S3ObjectStore extends ObjectStore {
  // Stages a body that its caller cleans up. Errors: unavailable, when memory is full.
  adopt(body: StagedBody): Staged
}

/** The bodies that wait to be put in place. */
const createStagedBodies = (bucket: Bucket, memory: number, buffers: PartBuffers) => {
  const budget = createMemoryBudget(memory)
  const bodies = new Map<Staged, StagedBody>()
  const take = (staged: Staged): StagedBody | undefined => {
    const body = bodies.get(staged)
    if (bodies.delete(staged) && body?.content.kind === 'memory') budget.release(body.size)
    return body
  }

  return {
    take,

    bodyOf(staged: Staged): StagedBody {
      const body = bodies.get(staged)
      if (!body) throw new Error('These bytes do not wait in this store')
      return body
    },

    async stage(...[content, target]: Parameters<ObjectStore['stage']>): Promise<Staged> {
      const body = await stageBody(bucket, { memory: budget, buffers }, content, target)
      const staged: Staged = {
        size: body.size,
        async discard() {
          const { content } = take(staged) ?? {}
          if (content?.kind === 'upload') await abortUpload(bucket, content.key, content.uploadId)
        },
      }
      bodies.set(staged, body)
      return staged
    },

    adopt(body: StagedBody): Staged {
      if (body.content.kind === 'memory' && !budget.reserve(body.size)) throw new ServiceError('unavailable')
      const staged: Staged = { size: body.size, discard: async () => void take(staged) }
      bodies.set(staged, body)
      return staged
    },
  }
}

/**
 * The checks before and after the calls of a placement. Of two placements that missed each other before, one sees the
 * other after.
 */
const createChecks = (
  bucket: Bucket,
  removals: Pick<ObservedRemovals, 'look'>,
  deadline: Deadline,
  { absent, unlocked, present = [], matching = [] }: PlaceConditions,
) => ({
  // Errors: NotPlaced.
  async before(): Promise<FolderLook> {
    const looking = removals.look(unlocked.site, unlocked.folders, unlocked.lockId)
    const [look, rival, changed] = await Promise.all([
      deadline.wait(looking),
      findRival(bucket, absent),
      findChanged(bucket, matching),
    ])
    if (look.isRemoving) throw new NotPlaced({ outcome: 'locked' })
    if (changed !== undefined) throw new NotPlaced({ outcome: 'changed', key: changed })
    if (rival !== undefined) throw new NotPlaced({ outcome: 'occupied', key: rival })
    return look
  },

  // Errors: NotPlaced.
  async after(look: FolderLook, changes: readonly Change[]): Promise<void> {
    const isOwn = (key: string) =>
      changes.some((change) => change.key === key || (key.endsWith('/') && change.key.startsWith(key)))
    const others = absent.filter((key) => !isOwn(key))
    // The calls that changed the other keys have compared them.
    const unchanged = matching.filter(({ key }) => !changes.some((change) => changesKey(change, key)))
    const [hasChanged, rival, there, changed] = await Promise.all([
      deadline.wait(look.hasChanged()),
      findRival(bucket, others),
      Promise.all(present.map((key) => findObject(bucket, key))),
      findChanged(bucket, unchanged),
    ])
    const gone = present.find((_, index) => !there[index])
    if (changed !== undefined) throw new NotPlaced({ outcome: 'changed', key: changed })
    if (hasChanged) throw new NotPlaced({ outcome: 'locked' })
    if (rival !== undefined) throw new NotPlaced({ outcome: 'occupied', key: rival })
    if (gone !== undefined) throw new NotPlaced({ outcome: 'stale', key: gone })
  },
})

const placeAll = async (
  bucket: Bucket,
  { removals, bodyOf }: Pick<Options, 'removals'> & { readonly bodyOf: (staged: Staged) => StagedBody },
  changes: readonly Change[],
  conditions: PlaceConditions,
): Promise<{ readonly outcome: PlaceResult; readonly hasChanged: boolean }> => {
  const { deadline: given = unlimited, removedFolder } = conditions
  using deadline = given.reserving(timeToReturn + timeToUndo(changes))
  using undoDeadline = given.reserving(timeToReturn)
  const doing = until(bucket, deadline.signal)
  const undoing = until(bucket, undoDeadline.signal)
  const placing = createPlacing({ doing, undoing, isTimeUp: deadline.isOver, bodyOf, conditions })
  const checks = createChecks(doing, removals, deadline, conditions)
  let begun: RemovedFolder | undefined
  try {
    const look = await checks.before()
    begun = removedFolder && (await deadline.wait(removals.begin(removedFolder, given)))
    await placing.apply(changes)
    await checks.after(look, changes)
    if (begun) await deadline.wait(removals.note(begun)).catch(() => {})
  } catch (error) {
    const isCut = deadline.signal.aborted && !(error instanceof NotPlaced)
    const cause = isCut ? new NotPlaced({ outcome: 'late' }) : error
    const failure = await placing.undo(cause)
    // The record of an earlier removal that this one continues stays.
    if (begun && removedFolder && failure === cause)
      await undoDeadline.wait(removals.cancel(removedFolder)).catch(() => {})
    if (failure instanceof NotPlaced) return { outcome: failure.outcome, hasChanged: false }
    throw failure
  }
  return { outcome: { outcome: 'placed' }, hasChanged: placing.hasChanged(changes) }
}

/** The object store in a bucket of S3, or of a compatible store. */
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
  const { stage, adopt, take, bodyOf } = createStagedBodies(bucket, memory, buffers)

  return {
    find: (key) => findObject(bucket, key),
    exists: (prefix) => existsBelow(bucket, prefix),
    list: (query) => listObjects(bucket, query),
    // S3 makes it from the bytes as they come in.
    fingerprintOf: async ({ fingerprint }) => fingerprint,
    read: (key, choose, expected) => readObject(bucket, key, choose, expected),
    versions: (key, query) => listVersions(bucket, key, query),
    readVersion: (key, id, choose) => readVersion(bucket, key, id, choose),
    listRemoved: (query) => listRemoved(bucket, query),
    keptBelow: (prefix) => countKept(bucket, prefix),
    removedWithin: (prefix, period) => listRemovedWithin(bucket, prefix, period),
    stage,
    adopt,

    async place(changes, conditions, entry) {
      const { outcome, hasChanged } = await placeAll(bucket, { removals, bodyOf }, changes, conditions)
      if (outcome.outcome === 'placed') for (const change of changes) if (change.kind === 'put') take(change.staged)
      if (hasChanged) await record(entry, conditions.deadline)
      return outcome
    },

    async remove(objects, entry, given = unlimited, removedFolder = undefined) {
      using deadline = given.reserving(timeToReturn)
      try {
        deadline.check()
        const begun = removedFolder && (await deadline.wait(removals.begin(removedFolder, given)))
        await deleteAll(
          until(bucket, deadline.signal),
          objects.map(({ key, version }) => ({ kind: 'object', key, tag: version })),
        )
        await Promise.all([
          // Without this, the record goes on to the end of the request's time.
          begun && deadline.wait(removals.note(begun)).catch(() => {}),
          entry && objects.length > 0 && record(entry, given),
        ])
      } catch (error) {
        throw deadline.signal.aborted ? new ServiceError('unavailable', { cause: error }) : error
      }
    },
  }
}
