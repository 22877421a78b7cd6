import { randomUUID } from 'node:crypto'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { ServiceError } from '../../errors.ts'
import { inParallel } from '../../in-parallel.ts'
import { type Change, NotPlaced, type Staged } from '../../storage/object-store.ts'
import { type Bucket, callsInFlight, isMissing, isRefused, onCondition, unquote } from './bucket.ts'
import { isScratch, type StagedBody } from './staging.ts'

type Move = Extract<Change, { kind: 'move' }>

/** A version of an object, or a delete marker, that was made: removing it brings back what was there before. */
interface Made {
  readonly key: string
  readonly versionId: string
}

export const headObject = async (
  { client, name }: Bucket,
  key: string,
): Promise<HeadObjectCommandOutput | undefined> => {
  try {
    return await client.send(new HeadObjectCommand({ Bucket: name, Key: key }))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const copySource = ({ name }: Bucket, key: string): string =>
  `${name}/${key.split('/').map(encodeURIComponent).join('/')}`

/** The version that a call made although it seems to have failed: its answer may have been lost on the way. */
const madeInSilence = async (
  bucket: Bucket,
  key: string,
  isOwn: (head: HeadObjectCommandOutput) => boolean | Promise<boolean>,
): Promise<string | undefined> => {
  const head = await headObject(bucket, key)
  return head && (await isOwn(head)) ? head.VersionId : undefined
}

/** The delete marker that hides a key at present. */
const presentMarker = async ({ client, name }: Bucket, key: string): Promise<string | undefined> => {
  const { DeleteMarkers = [] } = await client.send(
    new ListObjectVersionsCommand({ Bucket: name, Prefix: key, MaxKeys: 10 }),
  )
  return DeleteMarkers.find((marker) => marker.Key === key && marker.IsLatest)?.VersionId
}

/** One attempt to place changes: what it has made so far, so that all of it can be taken back. */
export const createPlacing = (bucket: Bucket, bodyOf: (staged: Staged) => StagedBody) => {
  const { client, once, name: Bucket } = bucket
  const made: Made[] = []

  /** Runs a call that makes a version, and finds out what it made even when it fails. */
  const making = async (
    key: string,
    run: () => Promise<{ VersionId?: string | undefined }>,
    find: () => Promise<string | undefined>,
  ): Promise<void> => {
    try {
      const { VersionId } = await run()
      if (!VersionId) throw new Error(`The bucket ${Bucket} keeps no versions, so no change could be taken back`)
      made.push({ key, versionId: VersionId })
    } catch (error) {
      const versionId = isRefused(error) ? undefined : await find()
      if (versionId) made.push({ key, versionId })
      throw error
    }
  }

  const completeUpload = (key: string, { content, id }: StagedBody): Promise<void> => {
    if (content.kind !== 'upload') throw new Error('There is no upload to complete')
    const MultipartUpload = { Parts: content.parts }
    return making(
      key,
      () =>
        once.send(
          new CompleteMultipartUploadCommand({ Bucket, Key: key, UploadId: content.uploadId, MultipartUpload }),
        ),
      () => madeInSilence(bucket, key, ({ Metadata }) => Metadata?.['change'] === id),
    )
  }

  const removeVersion = ({ key, versionId }: Made) =>
    client.send(new DeleteObjectCommand({ Bucket, Key: key, VersionId: versionId }))

  const put = async (key: string, body: StagedBody): Promise<void> => {
    const { content, contentType, id } = body
    const own = () => madeInSilence(bucket, key, ({ Metadata }) => Metadata?.['change'] === id)
    if (content.kind === 'memory') {
      const Metadata = { change: id }
      const command = { Bucket, Key: key, Body: content.bytes, ContentType: contentType, Metadata }
      return making(key, () => once.send(new PutObjectCommand(command)), own)
    }
    if (content.key === key) return completeUpload(key, body)
    if (!isScratch(content.key)) throw new Error('These bytes were staged for another place')
    await completeUpload(content.key, body)
    await making(
      key,
      () => once.send(new CopyObjectCommand({ Bucket, Key: key, CopySource: copySource(bucket, content.key) })),
      own,
    )
    for (const scratch of made.filter((one) => one.key === content.key)) await removeVersion(scratch)
  }

  const createFolder = async (key: string): Promise<void> => {
    if (await headObject(bucket, key)) return
    await making(
      key,
      () => once.send(new PutObjectCommand({ Bucket, Key: key, Body: Buffer.alloc(0), ContentLength: 0 })),
      // A folder that stays behind is empty, and is found there by a repetition.
      async () => undefined,
    )
  }

  const copy = async ({ from, key, contentType }: Move): Promise<void> => {
    if (await headObject(bucket, key)) throw new NotPlaced({ outcome: 'rival', key })
    const id = randomUUID()
    /** A copy bears the mark of its source, or one of its own; what others have put into the bucket may have none. */
    const isOwn = async (copied: HeadObjectCommandOutput): Promise<boolean> => {
      const mark = contentType ? id : (await headObject(bucket, from.key))?.Metadata?.['change']
      return mark ? copied.Metadata?.['change'] === mark : unquote(copied.ETag) === from.version
    }
    try {
      await making(
        key,
        () =>
          onCondition(bucket, 'a copy onto nothing', (isConditional) =>
            once.send(
              new CopyObjectCommand({
                Bucket,
                Key: key,
                CopySource: copySource(bucket, from.key),
                CopySourceIfMatch: from.version,
                ...(isConditional && { IfNoneMatch: '*' }),
                ...(contentType && {
                  ContentType: contentType,
                  MetadataDirective: 'REPLACE',
                  Metadata: { change: id },
                }),
              }),
            ),
          ),
        () => madeInSilence(bucket, key, isOwn),
      )
    } catch (error) {
      if (!isRefused(error)) throw error
      const isTaken = !isMissing(error) && (await headObject(bucket, key))
      throw new NotPlaced(isTaken ? { outcome: 'rival', key } : { outcome: 'stale', key: from.key })
    }
  }

  const hide = async (key: string, version?: string): Promise<void> => {
    const head = await headObject(bucket, key)
    // What has been replaced since is newer, and stays.
    if (!head || (version !== undefined && unquote(head.ETag) !== version)) return
    const remove = (isConditional: boolean) =>
      once.send(new DeleteObjectCommand({ Bucket, Key: key, ...(isConditional && { IfMatch: version }) }))
    try {
      await making(
        key,
        () => (version ? onCondition(bucket, 'a removal of one version alone', remove) : remove(false)),
        () => presentMarker(bucket, key),
      )
    } catch (error) {
      if (!isRefused(error)) throw error
    }
  }

  return {
    /** Everything that comes into being first, then everything that goes. Errors: NotPlaced. */
    async apply(changes: readonly Change[], isTimeUp: () => boolean): Promise<void> {
      const checkTime = () => {
        if (isTimeUp()) throw new NotPlaced({ outcome: 'late' })
      }
      await inParallel(changes, callsInFlight, async (change) => {
        checkTime()
        if (change.kind === 'put') await put(change.key, bodyOf(change.staged))
        if (change.kind === 'folder') await createFolder(change.key)
        if (change.kind === 'move') await copy(change)
      })
      await inParallel(changes, callsInFlight, async (change) => {
        checkTime()
        if (change.kind === 'move') await hide(change.from.key, change.from.version)
        if (change.kind === 'remove') await hide(change.key)
      })
    },

    /** Brings back what was there before, and answers what it was for. When that fails as well, both failures come through. */
    async undo(failure: unknown): Promise<unknown> {
      try {
        await inParallel(made.toReversed(), callsInFlight, async (version) => {
          await removeVersion(version)
        })
        return failure
      } catch (second) {
        const cause = new AggregateError([failure, second], 'A placement failed, and so did taking it back')
        return new ServiceError(second instanceof ServiceError ? 'unavailable' : 'unexpected', { cause })
      }
    },
  }
}
