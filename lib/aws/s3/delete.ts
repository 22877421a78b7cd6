import { setTimeout as sleep } from 'node:timers/promises'
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  type _Error as FailedKey,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { chunksOf, inParallel } from '../../core/in-parallel.ts'
import {
  type Bucket,
  callsInFlight,
  isPassing,
  isRefused,
  isRefusedAtOnce,
  noteLack,
  statusOf,
  unquote,
} from './bucket.ts'
import { headObject } from './find.ts'

/**
 * An `object` is hidden with a delete marker if it still has this tag. A `version` or delete marker is deleted for
 * good.
 */
export type Doomed =
  | { readonly kind: 'object'; readonly key: string; readonly tag: string }
  | { readonly kind: 'version'; readonly key: string; readonly versionId: string }

const unfitForXml = /[\p{Cc}\ufffe\uffff]/u

const batchLength = 1_000

// S3 allows 3,500 deletions a second below one prefix, and a batch takes about half a second.
const batchesInFlight = 2

const mostAttempts = 5
const firstPause = 100

const identifierOf = (doomed: Doomed) =>
  doomed.kind === 'version' ? { Key: doomed.key, VersionId: doomed.versionId } : { Key: doomed.key, ETag: doomed.tag }

const batchError = ({ Code = 'InternalError', Message = '' }: FailedKey): Error => {
  const cause = Object.assign(new Error(`S3 did not delete every object: ${Message}`), { name: Code })
  return Code === 'AccessDenied' ? cause : new ServiceError('unavailable', { cause })
}

// If the object is newer, it stays. Another removal may have been faster.
const isSettled = ({ Code = '' }: FailedKey): boolean =>
  ['PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchKey', 'NoSuchVersion'].includes(Code)

/**
 * The keys that a deletion did not hide. Others have changed or removed the objects of `spared`. The objects of
 * `doubtful` are gone, but another caller may have removed them: the call was repeated, and then refused.
 */
interface Refused {
  readonly spared: Set<string>
  readonly doubtful: Set<string>
}

const noteRefusal = async (bucket: Bucket, key: string, isFirstAttempt: boolean, refused: Refused) => {
  const isSpared = isFirstAttempt || (await headObject(bucket, key)) !== undefined
  refused[isSpared ? 'spared' : 'doubtful'].add(key)
}

const deleteBatch = async (bucket: Bucket, batch: readonly Doomed[], refused: Refused): Promise<void> => {
  const { abortSignal: signal } = bucket.options
  let left = batch
  for (let attempt = 1; left.length > 0; attempt++) {
    const Objects = left.map(identifierOf)
    const { Errors = [], $metadata } = await bucket.client.send(
      new DeleteObjectsCommand({ Bucket: bucket.name, Delete: { Objects, Quiet: true } }),
      bucket.options,
    )
    const isFirst = attempt === 1 && $metadata.attempts === 1
    const settled = Errors.filter(isSettled)
    await inParallel(settled, callsInFlight, ({ Key = '' }) => noteRefusal(bucket, Key, isFirst, refused))
    const failed = Errors.filter((error) => !isSettled(error))
    const [first] = failed
    if (!first) return
    const final = failed.find(({ Code }) => !isPassing(Code))
    if (final || attempt === mostAttempts) throw batchError(final ?? first)
    const keys = new Set(failed.map(({ Key }) => Key))
    left = left.filter(({ key }) => keys.has(key))
    // When the time is up, the next call fails.
    await sleep(firstPause * 2 ** (attempt - 1), undefined, signal && { signal }).catch(() => {})
  }
}

const conditionalRemoval = 'conditional removals'

/**
 * Hides an object if it still has the tag. Without a tag, hides it in any state. LocalStack 4.14.0 does not implement
 * this condition (501), so there this function compares the tag before the call.
 */
export const deleteState = async (bucket: Bucket, key: string, tag?: string) => {
  const { client, known, name, options } = bucket
  const command = { Bucket: name, Key: key }
  if (tag === undefined) return client.send(new DeleteObjectCommand(command), options)
  try {
    if (!known.lacks.has(conditionalRemoval))
      return await client.send(new DeleteObjectCommand({ ...command, IfMatch: tag }), options)
  } catch (error) {
    if (statusOf(error) !== 501) throw error
    noteLack(bucket, conditionalRemoval)
  }
  if (unquote((await headObject(bucket, key))?.ETag) !== tag) {
    throw new S3ServiceException({ name: 'PreconditionFailed', $fault: 'client', $metadata: { httpStatusCode: 412 } })
  }
  return client.send(new DeleteObjectCommand(command), options)
}

const deleteOne = async (bucket: Bucket, doomed: Doomed, refused: Refused): Promise<void> => {
  const { client, name, options } = bucket
  if (doomed.kind === 'version') {
    await client.send(new DeleteObjectCommand({ Bucket: name, Key: doomed.key, VersionId: doomed.versionId }), options)
    return
  }
  try {
    await deleteState(bucket, doomed.key, doomed.tag)
  } catch (error) {
    if (!isRefused(error)) throw error
    await noteRefusal(bucket, doomed.key, isRefusedAtOnce(error), refused)
  }
}

export const deleteAll = async (bucket: Bucket, doomed: readonly Doomed[]): Promise<Refused> => {
  const refused: Refused = { spared: new Set(), doubtful: new Set() }
  // A single DELETE is free, but a batch is charged as a POST.
  const isSingle = ({ key }: Doomed) => doomed.length === 1 || unfitForXml.test(key)
  await inParallel(doomed.filter(isSingle), callsInFlight, (one) => deleteOne(bucket, one, refused))
  const others = doomed.filter((one) => !isSingle(one))
  await inParallel(chunksOf(others, batchLength), batchesInFlight, (batch) => deleteBatch(bucket, batch, refused))
  return refused
}

/**
 * Hides the objects of a restore that failed. Others may have stored newer objects at these keys since. They fail, too,
 * because the restore has locked its path.
 */
export const hideAll = async (bucket: Bucket, keys: readonly string[]): Promise<void> => {
  const found: Doomed[] = []
  await inParallel(keys, callsInFlight, async (key) => {
    const head = await headObject(bucket, key)
    if (head) found.push({ kind: 'object', key, tag: unquote(head.ETag) })
  })
  const { spared } = await deleteAll(bucket, found)
  if (spared.size > 0) await hideAll(bucket, [...spared])
}
