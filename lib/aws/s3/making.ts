import { type HeadObjectCommandOutput, ListObjectVersionsCommand } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type Expected, NotPlaced, type Restoration } from '../../storage/object-store.ts'
import { type Ability, type Bucket, callsInFlight, isRefusedAtOnce, noteLack, unquote } from './bucket.ts'
import { type Doomed, deleteAll } from './deleting.ts'
import { headObject } from './looking.ts'

/** The version that a call has made although its answer was lost. */
export const madeInSilence = async (
  bucket: Bucket,
  key: string,
  isOwn: (head: HeadObjectCommandOutput) => boolean | Promise<boolean>,
): Promise<string | undefined> => {
  const head = await headObject(bucket, key)
  return head && (await isOwn(head)) ? head.VersionId : undefined
}

export const presentMarker = async ({ client, name, options }: Bucket, key: string): Promise<string | undefined> => {
  const { DeleteMarkers = [] } = await client.send(
    new ListObjectVersionsCommand({ Bucket: name, Prefix: key, MaxKeys: 10 }),
    options,
  )
  return DeleteMarkers.find((marker) => marker.Key === key && marker.IsLatest)?.VersionId
}

interface Answer {
  readonly VersionId?: string | undefined
  readonly ETag?: string | undefined
}

interface WriteConditions {
  readonly IfMatch?: string
  readonly IfNoneMatch?: '*'
}

/**
 * Makes a call that writes a key with the mark `id`, on condition that the key still is as seen or expected. `ability`
 * names the condition for stores that lack it. Errors: NotPlaced (changed).
 */
export type Writing = (
  write: {
    readonly key: string
    readonly id: string
    readonly seen?: Expected | undefined
    readonly ability?: Ability
  },
  run: (conditions: WriteConditions) => Promise<Answer>,
) => Promise<void>

interface Call {
  readonly key: string
  // The key was free before.
  readonly creates: boolean
  readonly run: () => Promise<Answer>
  // The version that the call has made although its answer was lost.
  readonly find: () => Promise<string | undefined>
}

// S3 may finish a call a moment after it was cut. In milliseconds.
const secondLook = 1_000

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

type Uncovered = Pick<Restoration, 'key' | 'id'>

/** The objects that one attempt has made, so that it can be undone. */
export const createMaking = (doing: Bucket, undoing: Bucket) => {
  // Versions and delete markers: their removal brings back what was there before.
  const made: Doomed[] = []
  // Objects whose delete markers were removed.
  const uncovered: Uncovered[] = []
  let isVersioned = true

  const findMade = async (key: string, find: () => Promise<string | undefined>): Promise<void> => {
    let versionId = await find()
    if (!versionId && doing.options.abortSignal?.aborted) {
      await pause(secondLook)
      versionId = await find()
    }
    if (versionId) made.push({ kind: 'version', key, versionId })
  }

  // Only the version tells an upload of the same bytes apart, and S3 compares tags alone: such an upload may slip in
  // before the removal.
  const findUncovered = async (): Promise<readonly Doomed[]> => {
    const found: Doomed[] = []
    await inParallel(uncovered, callsInFlight, async ({ key, id }) => {
      const head = await headObject(undoing, key)
      if (head?.VersionId === id) found.push({ kind: 'object', key, tag: unquote(head.ETag) })
    })
    return found
  }

  return {
    made,

    // Remembers versions whose markers a call removes: `undo` hides them again.
    uncovering: (versions: readonly Uncovered[]): void => void uncovered.push(...versions),

    // False for a bucket whose versioning is new: what is replaced there cannot be brought back.
    isVersioned: () => isVersioned,

    // Runs a call that makes a version, and finds that version even when the call fails.
    async making({ key, creates, run, find }: Call): Promise<void> {
      try {
        const { VersionId, ETag } = await run()
        if (VersionId) {
          made.push({ kind: 'version', key, versionId: VersionId })
          return
        }
        noteLack(doing, 'versions (of a new bucket, for 15 minutes)', 'what is replaced there cannot be brought back')
        isVersioned = false
        if (creates) made.push({ kind: 'object', key, tag: unquote(ETag) })
      } catch (error) {
        if (!isRefusedAtOnce(error) && !(error instanceof NotPlaced)) await findMade(key, find)
        throw error
      }
    },

    // Brings back what was there before. Answers the failure, or both failures when this fails too.
    async undo(failure: unknown): Promise<unknown> {
      try {
        await deleteAll(undoing, made)
        await deleteAll(undoing, await findUncovered())
        return failure
      } catch (second) {
        const cause = new AggregateError([failure, second], 'A placement failed, and so did taking it back')
        const passes = second instanceof ServiceError || undoing.options.abortSignal?.aborted
        return new ServiceError(passes ? 'unavailable' : 'unexpected', { cause })
      }
    },
  }
}
