import { ServiceError } from '../../core/errors.ts'
import { withCount } from '../../core/history-entry.ts'
import { unlimited } from '../../core/time.ts'
import {
  type Change,
  type Expected,
  NotPlaced,
  type ObjectStore,
  type PlaceConditions,
  type Staged,
} from '../../storage/object-store.ts'
import type { FolderLocks } from '../../storage/path-locks.ts'
import type { UploadRecords } from '../../storage/uploads/upload.ts'
import type { ObservedRemovals } from '../dynamodb/folder-removals.ts'
import type { RecordChange } from '../dynamodb/journal.ts'
import { type Attempt, createAttempt, timeToReturn } from './attempt.ts'
import { type Bucket, until } from './bucket.ts'
import { type Doomed, deleteAll } from './delete.ts'
import { existsBelow, findObject, findRival, isAtOrBelow, listObjects } from './find.ts'
import { computeFingerprint, lookAndRead, readObject } from './read.ts'
import { listRemoved, listRemovedWithin } from './removed.ts'
import { createPartBuffers, createStaging, type PartBuffers, type StagedBody } from './stage.ts'
import { apply, removedBy } from './steps.ts'
import { countKept, deleteVersions, listVersions } from './versions.ts'

/**
 * The bucket must keep versions, because changes are undone with them. `hasOwnKey`: KMS encrypts the bucket with the
 * customer's key, so entity tags are no fingerprints. Without `uploadRecords`, the bucket has no resumable uploads.
 * `memory` is the number of bytes for staged small files, for all requests together.
 */
interface Options {
  readonly bucket: Bucket
  readonly removals: Pick<ObservedRemovals, 'locksOf' | 'begin' | 'note' | 'cancel'>
  readonly hasOwnKey?: boolean
  readonly record: RecordChange
  readonly now?: (() => number) | undefined
  readonly uploadRecords?: Pick<UploadRecords, 'get'> | undefined
  readonly memory?: number
  readonly buffers?: PartBuffers
}

interface Placing extends Pick<Options, 'bucket' | 'removals'>, Pick<Attempt, 'bodyOf'> {
  readonly now: () => number
}

const findChanged = async (bucket: Bucket, expected: readonly Expected[]): Promise<string | undefined> => {
  const found = await Promise.all(expected.map(({ key }) => findObject(bucket, key)))
  return expected.find(({ version }, index) => found[index]?.version !== version)?.key
}

// Returns the locks of the folders. The lock of the caller does not block the caller. Errors: NotPlaced.
const checkBefore = async (
  { bucket, conditions: { absent, matching = [], unlocked } }: Attempt,
  looking: Promise<FolderLocks>,
): Promise<FolderLocks['ids']> => {
  const [locks, rival, changed] = await Promise.all([looking, findRival(bucket, absent), findChanged(bucket, matching)])
  if (locks.open.some(({ id }) => id !== unlocked.lockId)) throw new NotPlaced({ outcome: 'locked' })
  if (changed !== undefined) throw new NotPlaced({ outcome: 'changed', key: changed })
  if (rival !== undefined) throw new NotPlaced({ outcome: 'occupied', key: rival })
  return locks.ids
}

// In milliseconds. After this time, the caller that created a folder has checked the names above it.
const newFor = 120_000

// If two requests did not find each other in the first look, at least one of them finds the other now. Errors:
// NotPlaced.
const checkAfter = async (
  { bucket, changes, conditions }: Attempt,
  seen: FolderLocks['ids'],
  looking: Promise<FolderLocks>,
  now: number,
): Promise<void> => {
  const { absent, present = [], absentIfNew = [], matching = [] } = conditions
  const others = absent.filter((one) => !changes.some(({ key }) => isAtOrBelow(key, one)))
  // The other keys need no check: the calls that changed them compared their states.
  const keys = new Set(changes.flatMap((one) => [one.key, removedBy(one)?.key ?? one.key]))
  const unchanged = matching.filter(({ key }) => !keys.has(key))
  const [locks, rival, there, changed] = await Promise.all([
    looking,
    findRival(bucket, others),
    Promise.all(present.map((key) => findObject(bucket, key))),
    findChanged(bucket, unchanged),
  ])
  const gone = present.find((_, index) => !there[index])
  if (changed !== undefined) throw new NotPlaced({ outcome: 'changed', key: changed })
  // A removal that has begun since the first look may have removed the new files, even if it has ended.
  if ([...locks.ids].some((id) => !seen.has(id))) throw new NotPlaced({ outcome: 'locked' })
  if (rival !== undefined) throw new NotPlaced({ outcome: 'occupied', key: rival })
  if (gone !== undefined) throw new NotPlaced({ outcome: 'stale', key: gone })
  const isNew = there.some((folder) => folder && folder.modified > now - newFor)
  const above = isNew ? await findRival(bucket, absentIfNew) : undefined
  if (above !== undefined) throw new NotPlaced({ outcome: 'occupied', key: above })
}

// If the claim is lost, another request may have accepted the changes that this request has placed. Errors:
// unavailable.
const requireClaim = async ({ made, undoDeadline, claim }: Attempt, cause: unknown) => {
  if (!claim || made.length === 0 || (await undoDeadline.wait(claim.renew()).catch(() => false))) return
  throw new ServiceError('unavailable', { cause })
}

/**
 * Implements `ObjectStore.place`. Also returns whether anything has changed. A folder that existed before does not
 * count as a change.
 */
const place = async (
  { bucket, removals, bodyOf, now }: Placing,
  changes: readonly Change[],
  conditions: PlaceConditions,
) => {
  const { unlocked, deadline: given = unlimited, removedFolder } = conditions
  using attempt = createAttempt(bucket, bodyOf, changes, conditions)
  const { deadline, undoDeadline, made, claim } = attempt
  let begun: PlaceConditions['removedFolder']
  try {
    const look = () => deadline.wait(removals.locksOf(unlocked.site, unlocked.folders))
    const seen = unlocked.seen ?? (await checkBefore(attempt, look()))
    begun = removedFolder && (await deadline.wait(removals.begin(removedFolder, given)))
    await apply(attempt)
    await checkAfter(attempt, seen, look(), now())
    if (begun) await deadline.wait(removals.note(begun)).catch(() => {})
  } catch (error) {
    await requireClaim(attempt, error)
    const isCut = deadline.signal.aborted && !(error instanceof NotPlaced)
    const cause = isCut ? new NotPlaced({ outcome: 'late' }) : error
    const failure = await attempt.undo(cause)
    // If this removal continues an earlier removal, the record of the earlier removal stays.
    if (begun && removedFolder && failure === cause)
      await undoDeadline.wait(removals.cancel(removedFolder)).catch(() => {})
    if (failure instanceof NotPlaced) return { result: failure.outcome }
    throw failure
  }
  const hasChanged = made.length > 0 || changes.some(({ kind }) => kind !== 'folder')
  return { result: { outcome: 'placed' } as const, hasChanged, claim }
}

export const createS3ObjectStore = ({
  bucket,
  hasOwnKey = false,
  removals,
  record,
  now = Date.now,
  uploadRecords = { get: async () => undefined },
  memory = 32 * 1024 * 1024,
  buffers = createPartBuffers(),
}: Options): ObjectStore & { adopt(body: StagedBody): Staged } => {
  const { stage, adopt, take, bodyOf } = createStaging(bucket, memory, buffers)

  return {
    find: (key) => findObject(bucket, key),
    exists: (prefix) => existsBelow(bucket, prefix),
    async list(query) {
      const listing = await listObjects(bucket, query)
      if (!hasOwnKey) return listing
      return { ...listing, objects: listing.objects.map((object) => ({ ...object, fingerprint: null })) }
    },
    fingerprintOf: async (object, deadline) =>
      hasOwnKey ? computeFingerprint(bucket, object, deadline) : object.fingerprint,
    read: (key, choose, expected) => readObject(bucket, key, choose, expected),
    versions: (key, { forPurge, ...query }) =>
      listVersions(bucket, key, query, forPurge ? { now, get: uploadRecords.get } : undefined),
    readVersion: (key, id, choose) => lookAndRead(bucket, key, choose, id),
    listRemoved: (query) => listRemoved(bucket, query),
    keptBelow: (prefix) => countKept(bucket, prefix),
    removedWithin: (prefix, period) => listRemovedWithin(bucket, prefix, period),
    stage,
    adopt,

    async place(changes, conditions, entry) {
      const { result, hasChanged, claim } = await place({ bucket, removals, bodyOf, now }, changes, conditions)
      if (result.outcome === 'placed') for (const change of changes) if (change.kind === 'put') take(change.staged)
      if (!hasChanged) return result
      const write = claim?.complete ?? record
      const recorded = write(entry, conditions.deadline)
      // The caller may do something else before it handles a failure.
      recorded.catch(() => {})
      return { outcome: 'placed', recorded }
    },

    async purge(versions, entry, given) {
      using deadline = given.reserving(timeToReturn)
      let count = 0
      deadline.check()
      try {
        for await (const deleted of deleteVersions(until(bucket, deadline.signal), versions)) {
          count += deleted
          if (deadline.isOver()) break
        }
      } finally {
        if (count > 0) await record(withCount(entry, count), given)
      }
      return versions.length - count
    },

    async remove(objects, { entry, deadline: given = unlimited, removedFolder } = {}) {
      using deadline = given.reserving(timeToReturn)
      deadline.check()
      const begun = removedFolder && (await deadline.wait(removals.begin(removedFolder, given)))
      const doomed = objects.map(({ key, version }): Doomed => ({ kind: 'object', key, tag: version }))
      const { spared, doubtful } = await deleteAll(until(bucket, deadline.signal), doomed)
      await Promise.all([
        // Without this call, the recorded period would extend to the end of the request's time.
        begun && deadline.wait(removals.note(begun)).catch(() => {}),
        entry && spared.size < objects.length && record(entry, given),
      ])
      const removed = objects.filter(({ key }) => !spared.has(key) && !doubtful.has(key))
      return { spared, bytes: removed.reduce((sum, { size }) => sum + size, 0) }
    },
  }
}
