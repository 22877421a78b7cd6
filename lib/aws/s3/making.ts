import { type HeadObjectCommandOutput, ListObjectVersionsCommand } from '@aws-sdk/client-s3'
import { ServiceError } from '../../errors.ts'
import { NotPlaced } from '../../storage/object-store.ts'
import { type Bucket, isRefusedAtOnce, noteLack, unquote } from './bucket.ts'
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
export interface Answer {
  readonly VersionId?: string | undefined
  readonly ETag?: string | undefined
}

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

/** What one attempt to place changes has made so far, so that all of it can be taken back. `undoing` has the time that is kept for that. */
export const createMaking = (doing: Bucket, undoing: Bucket) => {
  /** Versions and delete markers: without them, what was there before is there again. */
  const made: Doomed[] = []
  let isVersioned = true

  const findMade = async (key: string, find: () => Promise<string | undefined>): Promise<void> => {
    let versionId = await find()
    if (!versionId && doing.options.abortSignal?.aborted) {
      await pause(secondLook)
      versionId = await find()
    }
    if (versionId) made.push({ kind: 'version', key, versionId })
  }

  return {
    made,

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
        return failure
      } catch (second) {
        const cause = new AggregateError([failure, second], 'A placement failed, and so did taking it back')
        const passes = second instanceof ServiceError || undoing.options.abortSignal?.aborted
        return new ServiceError(passes ? 'unavailable' : 'unexpected', { cause })
      }
    },
  }
}
