import { CompleteMultipartUploadCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { type Expected, NotPlaced } from '../../storage/object-store.ts'
import { awaitVersion, explainRefusal, type StepBuckets, type StepResult } from './attempt.ts'
import { type Bucket, isUploadGone, longOptions, marked, onlyOnto } from './bucket.ts'
import { sendCopy } from './copy.ts'
import { findMarked, headObject } from './find.ts'
import { isScratch, type StagedBody } from './stage.ts'

interface Write {
  readonly key: string
  readonly expected: Expected | undefined
}

const sendBody = (bucket: Bucket, { key, expected }: Write, { content, contentType, id }: StagedBody) => {
  const { once, name, options } = bucket
  const goal = { Key: key, ...onlyOnto(expected) }
  const described = marked(contentType, id)
  // The source stays: another attempt may copy it again.
  if (content.kind === 'object') return sendCopy(bucket, content, { ...goal, ...described })
  if (content.kind === 'memory') {
    return once.send(new PutObjectCommand({ Bucket: name, ...goal, ...described, Body: content.bytes }), options)
  }
  const upload = { UploadId: content.uploadId, MultipartUpload: { Parts: content.parts } }
  return once.send(new CompleteMultipartUploadCommand({ Bucket: name, ...goal, ...upload }), longOptions(bucket))
}

/** Puts a staged body at a key. An upload can only be completed at its own key. Errors: NotPlaced (changed). */
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

export const createFolder = async (buckets: StepBuckets, key: string): Promise<StepResult> => {
  const { once, name, options } = buckets.doing
  if (await headObject(buckets.doing, key)) return { made: [] }
  const command = new PutObjectCommand({ Bucket: name, Key: key, Body: Buffer.alloc(0), ContentLength: 0 })
  // A folder that stays behind is empty, and the next attempt finds it.
  const find = async () => undefined
  return awaitVersion(buckets, { key, isNew: true, find }, once.send(command, options))
}
