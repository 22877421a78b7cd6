import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
} from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { type Expected, NotPlaced } from '../../storage/object-store.ts'
import { awaitVersion, explainRefusal, type StepBuckets, type StepResult } from './attempt.ts'
import { type Bucket, copySource, isUploadGone, longOptions } from './bucket.ts'
import { findMarked, headObject } from './find.ts'
import { isScratch, type StagedBody } from './stage.ts'

/** A write succeeds onto this state alone; without one, onto any. */
export const onlyOnto = (
  expected: Pick<Expected, 'version'> | undefined,
): Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'> => {
  if (!expected) return {}
  return expected.version === undefined ? { IfNoneMatch: '*' } : { IfMatch: expected.version }
}

interface Write {
  readonly key: string
  readonly expected: Expected | undefined
}

const sendBody = (bucket: Bucket, { key, expected }: Write, { content, contentType, id }: StagedBody) => {
  const { once, name, options } = bucket
  const target = { Bucket: name, Key: key, ...onlyOnto(expected) }
  const described = { ContentType: contentType, Metadata: { change: id } }
  if (content.kind === 'memory') {
    return once.send(new PutObjectCommand({ ...target, ...described, Body: content.bytes }), options)
  }
  if (content.kind === 'upload') {
    const upload = { UploadId: content.uploadId, MultipartUpload: { Parts: content.parts } }
    return once.send(new CompleteMultipartUploadCommand({ ...target, ...upload }), longOptions(bucket))
  }
  // The source stays: another attempt may copy it again.
  const source = { CopySource: copySource(bucket, content.key), MetadataDirective: 'REPLACE' } as const
  return once.send(new CopyObjectCommand({ ...target, ...described, ...source }), longOptions(bucket))
}

/** Puts a staged body at a key. Of an upload, it must be the upload's own key. Errors: NotPlaced (changed). */
export const putBody = async (buckets: StepBuckets, write: Write, body: StagedBody): Promise<StepResult> => {
  const { key, expected } = write
  const isNew = expected ? expected.version === undefined : isScratch(key)
  const find = () => findMarked(buckets.finding, key, body.id)
  const result = await awaitVersion(buckets, { key, isNew, find }, sendBody(buckets.doing, write, body))
  if (!expected) return result
  return explainRefusal(result, async (refusal) =>
    isUploadGone(refusal)
      ? new ServiceError('unavailable', { cause: refusal })
      : new NotPlaced({ outcome: 'changed', key }),
  )
}

/** Creates a folder that is not there. */
export const createFolder = async (buckets: StepBuckets, key: string): Promise<StepResult> => {
  const { once, name, options } = buckets.doing
  if (await headObject(buckets.doing, key)) return { made: [] }
  const command = new PutObjectCommand({ Bucket: name, Key: key, Body: Buffer.alloc(0), ContentLength: 0 })
  // A folder that stays behind is empty, and the next attempt finds it.
  const find = async () => undefined
  return awaitVersion(buckets, { key, isNew: true, find }, once.send(command, options))
}
