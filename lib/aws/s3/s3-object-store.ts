import { ServiceError } from '../../core/errors.ts'
import { withCount } from '../../core/history-entry.ts'
import { unlimited } from '../../core/time.ts'
import { createStagedContents } from '../../storage/content.ts'
import type { Claim, ObjectStore, Staged } from '../../storage/object-store.ts'
import type { RecordChange } from '../dynamodb/journal.ts'
import { timeToReturn } from './attempt.ts'
import { type Bucket, until } from './bucket.ts'
import { type Doomed, deleteAll } from './delete.ts'
import { existsBelow, findObject, listObjects } from './find.ts'
import { claimIn, type PlaceDeps, place } from './place.ts'
import { computeFingerprint, lookAndRead, readObject } from './read.ts'
import { listRemoved, listRemovedWithin } from './removed.ts'
import { abortUpload, createPartBuffers, type PartBuffers, type StagedBody, stageBody } from './stage.ts'
import { countKept, deleteVersions, listVersions } from './versions.ts'

interface Options extends Pick<PlaceDeps, 'removals'> {
  // The bucket must keep versions, because changes are undone with them.
  readonly bucket: Bucket
  // KMS encrypts the bucket with the customer's key, so entity tags are no fingerprints.
  readonly hasOwnKey?: boolean
  readonly record: RecordChange
  readonly now?: (() => number) | undefined
  // In bytes: staged small files in memory, for all requests together.
  readonly memory?: number
  readonly buffers?: PartBuffers
}

const createStaging = (bucket: Bucket, memory: number, buffers: PartBuffers) => {
  const bodies = createStagedContents<StagedBody>(memory, ({ content }) => content.kind === 'memory')
  const { reserve, keep } = bodies
  const abort = async ({ content }: StagedBody): Promise<void> => {
    if (content.kind === 'upload') await abortUpload(bucket, content)
  }
  return {
    bodyOf: bodies.of,
    take: bodies.take,
    stage: async (...[content, target]: Parameters<ObjectStore['stage']>): Promise<Staged> =>
      keep(await stageBody(bucket, { reserve, buffers }, content, target), abort),

    // Accepts the body of a resumable upload. The quota already counts its bytes. The caller cleans up the body.
    // Errors: unavailable, when memory is full.
    adopt(body: StagedBody, claim?: Claim): Staged {
      if (body.content.kind === 'memory' && !reserve(body.size)) throw new ServiceError('unavailable')
      return keep(body, undefined, { reserved: body.size, claim })
    },
  }
}

export const createS3ObjectStore = ({
  bucket,
  hasOwnKey = false,
  removals,
  record,
  now = Date.now,
  memory = 32 * 1024 * 1024,
  buffers = createPartBuffers(),
}: Options): ObjectStore & { adopt(body: StagedBody, claim?: Claim): Staged } => {
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
    versions: (key, query) => listVersions(bucket, key, query),
    readVersion: (key, id, choose) => lookAndRead(bucket, key, choose, id),
    listRemoved: (query) => listRemoved(bucket, query),
    keptBelow: (prefix) => countKept(bucket, prefix),
    removedWithin: (prefix, period) => listRemovedWithin(bucket, prefix, period),
    stage,
    adopt,

    async place(changes, conditions, entry) {
      const { result, hasChanged } = await place({ bucket, removals, bodyOf, now }, changes, conditions)
      if (result.outcome === 'placed') for (const change of changes) if (change.kind === 'put') take(change.staged)
      const write = claimIn(changes)?.complete ?? record
      if (hasChanged) await Promise.all([write(entry, conditions.deadline), conditions.alongsideEntry?.()])
      return result
    },

    async purge(versions, entry, given) {
      using deadline = given.reserving(timeToReturn)
      let count = 0
      try {
        for await (const deleted of deleteVersions(until(bucket, deadline.signal), versions)) {
          count += deleted
          if (deadline.isOver()) break
        }
      } catch (error) {
        throw deadline.signal.aborted ? new ServiceError('unavailable', { cause: error }) : error
      } finally {
        if (count > 0) await record(withCount(entry, count), given)
      }
      return versions.length - count
    },

    async remove(objects, { entry, deadline: given = unlimited, removedFolder } = {}) {
      using deadline = given.reserving(timeToReturn)
      try {
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
      } catch (error) {
        throw deadline.signal.aborted ? new ServiceError('unavailable', { cause: error }) : error
      }
    },
  }
}
