import { setTimeout as sleep } from 'node:timers/promises'
import { DeleteObjectCommand, DeleteObjectsCommand, type _Error as FailedKey } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type Bucket, callsInFlight, isRefused, onCondition, passingCodes, unquote } from './bucket.ts'
import { headObject } from './looking.ts'

/**
 * `object`: hide it with a delete marker if it still has this tag. `version`: delete one version or delete marker for
 * good.
 */
export type Doomed =
  | { readonly kind: 'object'; readonly key: string; readonly tag: string }
  | { readonly kind: 'version'; readonly key: string; readonly versionId: string }

// A batch is XML.
const unfitForXml = /[\ufffe\uffff]/

const batchLength = 1_000

// S3 allows 3,500 deletions a second below one prefix, and a batch takes about half a second.
const batchesInFlight = 2

// Pauses double. In milliseconds.
const mostAttempts = 5
const firstPause = 100

const identifierOf = (doomed: Doomed) =>
  doomed.kind === 'version' ? { Key: doomed.key, VersionId: doomed.versionId } : { Key: doomed.key, ETag: doomed.tag }

const batchesOf = <Item>(items: readonly Item[]): readonly Item[][] =>
  Array.from({ length: Math.ceil(items.length / batchLength) }, (_, index) =>
    items.slice(index * batchLength, (index + 1) * batchLength),
  )

/** The error of one key in a batch. All but AccessDenied are transient. */
const batchError = ({ Code = 'InternalError', Message = '' }: FailedKey): Error => {
  const cause = Object.assign(new Error(`S3 did not delete every object: ${Message}`), { name: Code })
  return Code === 'AccessDenied' ? cause : new ServiceError('unavailable', { cause })
}

/** A newer object stays, and another removal may have been faster. */
const isSettled = ({ Code = '' }: FailedKey): boolean =>
  ['PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchKey', 'NoSuchVersion'].includes(Code)

const deleteBatch = async (bucket: Bucket, batch: readonly Doomed[]): Promise<void> => {
  let left = batch
  for (let attempt = 1; left.length > 0; attempt++) {
    const Objects = left.map(identifierOf)
    const { Errors = [] } = await bucket.client.send(
      new DeleteObjectsCommand({ Bucket: bucket.name, Delete: { Objects, Quiet: true } }),
      bucket.options,
    )
    const failed = Errors.filter((error) => !isSettled(error))
    const [first] = failed
    if (!first) return
    const final = failed.find(({ Code = '' }) => !passingCodes.includes(Code))
    if (final || attempt === mostAttempts) throw batchError(final ?? first)
    const keys = new Set(failed.map(({ Key }) => Key))
    left = left.filter(({ key }) => keys.has(key))
    await sleep(firstPause * 2 ** (attempt - 1), undefined, signalOf(bucket))
  }
}

const signalOf = ({ options: { abortSignal } }: Bucket) => (abortSignal ? { signal: abortSignal } : {})

/** A store without the condition gets a look before the call. */
const deleteOne = async (bucket: Bucket, doomed: Doomed): Promise<void> => {
  const { client, name: Bucket, options } = bucket
  const { key: Key } = doomed
  if (doomed.kind === 'version') {
    await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId: doomed.versionId }), options)
    return
  }
  try {
    await onCondition(bucket, 'a removal of one version alone', async (isConditional) => {
      if (!isConditional && unquote((await headObject(bucket, Key))?.ETag) !== doomed.tag) return
      await client.send(
        new DeleteObjectCommand({ Bucket, Key, ...(isConditional && { IfMatch: doomed.tag }) }),
        options,
      )
    })
  } catch (error) {
    if (!isRefused(error)) throw error
  }
}

/** Errors: unavailable, when a repetition may help; those of S3. */
export const deleteAll = async (bucket: Bucket, doomed: readonly Doomed[]): Promise<void> => {
  // A single DELETE is free; a batch is charged as a POST.
  const isSingle = ({ key }: Doomed) => doomed.length === 1 || unfitForXml.test(key)
  await inParallel(doomed.filter(isSingle), callsInFlight, (one) => deleteOne(bucket, one))
  const batches = batchesOf(doomed.filter((one) => !isSingle(one)))
  await inParallel(batches, batchesInFlight, (batch) => deleteBatch(bucket, batch))
}
