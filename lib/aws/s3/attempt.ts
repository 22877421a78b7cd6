import type { CopyObjectCommandOutput, PutObjectCommandOutput } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { reserves, unlimited } from '../../core/time.ts'
import { type Change, NotPlaced, type PlaceConditions, type Staged } from '../../storage/object-store.ts'
import { type Bucket, isRefused, isRefusedAtOnce, noteLack, unquote, until } from './bucket.ts'
import { sendCopy } from './copy.ts'
import { type Doomed, deleteAll, hideAll } from './delete.ts'
import type { Spare, StagedBody } from './stage.ts'

/**
 * The result of a step: a version, a delete marker, or an old version that lost its markers. A bucket whose versioning
 * is new returns no version ids. Then only an object at a key that was free can be undone.
 */
export type Made =
  | (Doomed & { readonly spare?: Spare })
  | { readonly kind: 'uncovered' | 'final'; readonly key: string }

// In milliseconds: S3 may finish a call a moment after it was cut off.
const secondLook = 1_000

const awaitLateCalls = async ({ options: { abortSignal } }: Bucket): Promise<void> => {
  if (abortSignal?.aborted) await new Promise((resolve) => setTimeout(resolve, secondLook))
}

interface Creation {
  readonly key: string
  readonly isNew: boolean
  readonly spare?: Spare | undefined
  readonly find: (bucket: Bucket) => Promise<string | undefined>
  // Replaces a refusal of S3. If the result is undefined, the refusal does not matter.
  readonly explain: (refusal: unknown) => Promise<unknown>
}

type Answer = Pick<CopyObjectCommandOutput, 'VersionId' | 'CopyObjectResult'> & Pick<PutObjectCommandOutput, 'ETag'>

const resultOf = (bucket: Bucket, { key, isNew, spare }: Creation, answer: Answer): Made => {
  const { VersionId, ETag, CopyObjectResult } = answer
  if (VersionId) return { kind: 'version', key, versionId: VersionId, ...(spare && { spare }) }
  noteLack(bucket, 'versions (of a new bucket, for 15 minutes)')
  return isNew ? { kind: 'object', key, tag: unquote(ETag ?? CopyObjectResult?.ETag) } : { kind: 'final', key }
}

const findLost = async (bucket: Attempt['bucket'], { find }: Creation): Promise<string | undefined> => {
  const found = await find(bucket.finding)
  if (found || !bucket.options.abortSignal?.aborted) return found
  await awaitLateCalls(bucket)
  return find(bucket.finding)
}

export const awaitVersion = async ({ bucket, made }: Attempt, creation: Creation, call: Promise<Answer>) => {
  try {
    const result = resultOf(bucket, creation, await call)
    made.push(result)
    return result
  } catch (failure) {
    const VersionId = isRefusedAtOnce(failure) ? undefined : await findLost(bucket, creation)
    if (VersionId) made.push(resultOf(bucket, creation, { VersionId }))
    const error = isRefused(failure) ? await creation.explain(failure).catch((other: unknown) => other) : failure
    if (error !== undefined) throw error
    return undefined
  }
}

/** For results that are known before the call. To undo them does no harm if the call has not made them. */
export const awaitKnown = async ({ bucket, made }: Attempt, results: readonly Made[], call: Promise<unknown>) => {
  made.push(...results)
  await call.finally(() => awaitLateCalls(bucket))
}

export const undoResults = async (bucket: Bucket, made: readonly Made[]): Promise<void> => {
  const doomed: Doomed[] = []
  const uncovered: string[] = []
  for (const one of made) {
    if (one.kind === 'version' || one.kind === 'object') doomed.push(one)
    else if (one.kind === 'uncovered') uncovered.push(one.key)
    else one.kind satisfies 'final'
  }
  await deleteAll(bucket, doomed)
  await hideAll(bucket, uncovered)
}

export const timeToReturn = reserves.answer + 500

const timeToDelete = 2_000
const spareBytesPerMillisecond = 1024 * 1024

const timeToUndo = (changes: readonly Change[]): number => {
  const covered = changes.filter((change) => change.kind === 'restore' && change.hiddenBy).length
  const staged = changes.reduce((sum, change) => sum + (change.kind === 'put' ? change.staged.size : 0), 0)
  return 3_000 + 0.6 * changes.length + 0.7 * covered + staged / spareBytesPerMillisecond
}

export const createAttempt = (
  given: Bucket,
  bodyOf: (staged: Staged) => StagedBody,
  changes: readonly Change[],
  conditions: PlaceConditions,
) => {
  const { matching = [], deadline: whole = unlimited } = conditions
  const deadline = whole.reserving(timeToReturn + timeToUndo(changes))
  const undoDeadline = whole.reserving(timeToReturn)
  const finding = until(given, undoDeadline.signal)
  const bucket = { ...until(given, deadline.signal), finding }
  const made: Made[] = []
  const puts = changes.filter((change) => change.kind === 'put')

  // Without time for the copy, the upload is lost: the next request for the upload answers that the upload is unknown.
  // This copy may be repeated: it may make several versions.
  const saveSpares = async (): Promise<void> => {
    using saving = undoDeadline.reserving(timeToDelete)
    const copying = { ...until(bucket, saving.signal), once: bucket.client }
    for (const one of made) {
      if (one.kind === 'version' && one.spare)
        await sendCopy(copying, { ...one, size: one.spare.size }, { Key: one.spare.key })
    }
  }

  return {
    bodyOf,
    claim: puts.map(({ staged }) => bodyOf(staged).claim).find((claim) => claim !== undefined),
    changes,
    conditions,
    expected: new Map(matching.map((one) => [one.key, one])),
    tags: new Map<string, string | undefined>(),
    deadline,
    undoDeadline,
    bucket,
    made,

    async undo(failure: unknown): Promise<unknown> {
      try {
        const endsUpload = failure instanceof NotPlaced && ['locked', 'occupied'].includes(failure.outcome.outcome)
        if (!endsUpload) await saveSpares().catch(() => {})
        await undoResults(finding, made)
        return failure
      } catch (second) {
        const cause = new AggregateError([failure, second], 'A placement failed, and undoing it failed, too')
        return new ServiceError(second instanceof ServiceError ? 'unavailable' : 'unexpected', { cause })
      }
    },

    [Symbol.dispose](): void {
      deadline[Symbol.dispose]()
      undoDeadline[Symbol.dispose]()
    },
  }
}

export type Attempt = ReturnType<typeof createAttempt>
