import { type HeadObjectCommandOutput, ListObjectVersionsCommand } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type Expected, NotPlaced, type Restoration } from '../../storage/object-store.ts'
import { type Ability, type Bucket, callsInFlight, isRefusedAtOnce, noteLack, unquote } from './bucket.ts'
import { type Doomed, deleteAll } from './deleting.ts'
import { headObject } from './looking.ts'

/** The version that a call made although it seems to have failed: its answer may have been lost on the way. */
export const madeInSilence = async (
  bucket: Bucket,
  key: string,
  isOwn: (head: HeadObjectCommandOutput) => boolean | Promise<boolean>,
): Promise<string | undefined> => {
  const head = await headObject(bucket, key)
  return head && (await isOwn(head)) ? head.VersionId : undefined
}

/** The delete marker that hides a key at present. */
export const presentMarker = async ({ client, name, options }: Bucket, key: string): Promise<string | undefined> => {
  const { DeleteMarkers = [] } = await client.send(
    new ListObjectVersionsCommand({ Bucket: name, Prefix: key, MaxKeys: 10 }),
    options,
  )
  return DeleteMarkers.find((marker) => marker.Key === key && marker.IsLatest)?.VersionId
}

/** What a call that makes something has answered. */
interface Answer {
  readonly VersionId?: string | undefined
  readonly ETag?: string | undefined
}

/** The conditions that a call carries which writes a key. */
interface WriteConditions {
  readonly IfMatch?: string
  readonly IfNoneMatch?: '*'
}

/**
 * Makes a call that writes a key, onto what was seen or is expected there alone when something is: one that bears `id`, and whose conditions the store
 * knows under the name of that ability. Errors: NotPlaced (changed).
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
  /** Whether nothing was there before. */
  readonly creates: boolean
  readonly run: () => Promise<Answer>
  /** The version that it made although it seems to have failed. */
  readonly find: () => Promise<string | undefined>
}

/** What S3 has in hand when a call is cut may become visible a moment later: it is looked for once more after so many milliseconds. */
const secondLook = 1_000

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

type Uncovered = Pick<Restoration, 'key' | 'id'>

/** What one attempt to place changes has made so far, so that all of it can be taken back. `undoing` has the time that is kept for that. */
export const createMaking = (doing: Bucket, undoing: Bucket) => {
  /** Versions and delete markers: without them, what was there before is there again. */
  const made: Doomed[] = []
  /** Objects that nothing hides any more. */
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

  /**
   * What was hidden before, and is to be seen now. An upload of the same bytes bears the same tag, so that only the name of the version tells them
   * apart. S3 removes under a condition of tags alone: between this look and the removal such an upload may still slip in.
   */
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

    /** Says which versions a call takes the markers away from, so that they are hidden again when it is taken back. */
    uncovering: (versions: readonly Uncovered[]): void => void uncovered.push(...versions),

    /**
     * Whether all that was made so far can be taken back whatever it has replaced. A bucket whose versioning is new may keep none yet: what
     * was created there is taken back by removing it; what was replaced is gone.
     */
    isVersioned: () => isVersioned,

    /** Runs a call that makes a version, and finds out what it made even when it fails. */
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

    /** Brings back what was there before, and answers what it was for. When that fails as well, both failures come through. */
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
