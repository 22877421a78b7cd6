import { type HeadObjectCommandOutput, ListObjectVersionsCommand } from '@aws-sdk/client-s3'
import { ServiceError } from '../../errors.ts'
import { type Bucket, isRefused } from './bucket.ts'
import { deleteAll } from './deleting.ts'
import { headObject } from './looking.ts'

/** A version of an object, or a delete marker, that was made: removing it brings back what was there before. */
export interface Made {
  readonly key: string
  readonly versionId: string
}

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

/** What S3 has in hand when a call is cut may become visible a moment later: it is looked for once more after so many milliseconds. */
const secondLook = 1_000

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** What one attempt to place changes has made so far, so that all of it can be taken back. `undoing` has the time that is kept for that. */
export const createMaking = (doing: Bucket, undoing: Bucket) => {
  const made: Made[] = []

  const findMade = async (key: string, find: () => Promise<string | undefined>): Promise<void> => {
    let versionId = await find()
    if (!versionId && doing.options.abortSignal?.aborted) {
      await pause(secondLook)
      versionId = await find()
    }
    if (versionId) made.push({ key, versionId })
  }

  return {
    made,

    /** Runs a call that makes a version, and finds out what it made even when it fails. */
    async making(
      key: string,
      run: () => Promise<{ VersionId?: string | undefined }>,
      find: () => Promise<string | undefined>,
    ): Promise<void> {
      try {
        const { VersionId } = await run()
        if (!VersionId) throw new Error(`The bucket ${doing.name} keeps no versions, so no change could be taken back`)
        made.push({ key, versionId: VersionId })
      } catch (error) {
        if (!isRefused(error)) await findMade(key, find)
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
