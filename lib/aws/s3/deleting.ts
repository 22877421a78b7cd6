import { setTimeout as sleep } from 'node:timers/promises'
import { DeleteObjectCommand, DeleteObjectsCommand, type _Error as FailedKey } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type Bucket, callsInFlight, isRefused, onCondition, passingCodes, unquote } from './bucket.ts'
import { headObject } from './looking.ts'

/** What goes: an object, in the state with this tag alone, so that a delete marker hides it; or, for good, one version of it, a delete marker maybe. */
export type Doomed =
  | { readonly kind: 'object'; readonly key: string; readonly tag: string }
  | { readonly kind: 'version'; readonly key: string; readonly versionId: string }

/** What XML cannot hold cannot be deleted in a batch. */
const unfitForXml = /[\ufffe\uffff]/

/** Objects that one call deletes. */
const batchLength = 1_000

/** S3 takes 3,500 deletions a second below one prefix: two batches that take about half a second each stay about there. */
const batchesInFlight = 2

/** How often what failed in passing is tried altogether, and the first pause before that, in milliseconds; each one is twice as long. */
const mostAttempts = 5
const firstPause = 100

const identifierOf = (doomed: Doomed) =>
  doomed.kind === 'version' ? { Key: doomed.key, VersionId: doomed.versionId } : { Key: doomed.key, ETag: doomed.tag }

const batchesOf = <Item>(items: readonly Item[]): readonly Item[][] =>
  Array.from({ length: Math.ceil(items.length / batchLength) }, (_, index) =>
    items.slice(index * batchLength, (index + 1) * batchLength),
  )

/** An S3 error of one key in a batch. All but one of them pass. */
const batchError = ({ Code = 'InternalError', Message = '' }: FailedKey): Error => {
  const cause = Object.assign(new Error(`S3 did not delete every object: ${Message}`), { name: Code })
  return Code === 'AccessDenied' ? cause : new ServiceError('unavailable', { cause })
}

/** What has been replaced since it was listed is newer, and stays; what has gone since, another removal took. */
const isSettled = ({ Code = '' }: FailedKey): boolean =>
  ['PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchKey', 'NoSuchVersion'].includes(Code)

/** Deletes a batch, and again what of it failed in passing. */
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

/** As in a batch. A store that does not know the condition has a look before the call in its place. */
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

/** Deletes all of these. Throws when one could not be deleted: `unavailable` when a repetition may help. */
export const deleteAll = async (bucket: Bucket, doomed: readonly Doomed[]): Promise<void> => {
  // One alone goes by a DELETE, which costs nothing; a batch is charged as a POST.
  const isSingle = ({ key }: Doomed) => doomed.length === 1 || unfitForXml.test(key)
  await inParallel(doomed.filter(isSingle), callsInFlight, (one) => deleteOne(bucket, one))
  const batches = batchesOf(doomed.filter((one) => !isSingle(one)))
  await inParallel(batches, batchesInFlight, (batch) => deleteBatch(bucket, batch))
}
