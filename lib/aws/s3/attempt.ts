import { createDeadline, type RemainingTime, reserves } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Change } from '../../storage/object-store.ts'
import { type Bucket, callsInFlight, isRefused, isRefusedAtOnce, noteLack, unquote, until } from './bucket.ts'
import { type Doomed, deleteAll } from './delete.ts'
import { headObject } from './find.ts'

/** One thing that a step has made. */
export type Made =
  // A version or a delete marker: without it, the state before is current again.
  | { readonly kind: 'version'; readonly key: string; readonly versionId: string }
  // An old version whose delete markers are gone.
  | { readonly kind: 'uncovered'; readonly key: string; readonly versionId: string }
  // An object where there was none, in a bucket that keeps no versions yet.
  | { readonly kind: 'object'; readonly key: string; readonly tag: string }
  // Any other change in such a bucket. It cannot be undone.
  | { readonly kind: 'final'; readonly key: string }

/** With a failure, `made` is what the step has made nevertheless. */
export interface StepResult {
  readonly made: readonly Made[]
  readonly failure?: unknown
}

/** The bucket as steps use it. */
export interface StepBuckets {
  // Its calls end at the deadline for changes.
  readonly doing: Bucket
  // Its calls may take longer. They find what a call has made whose answer was lost.
  readonly finding: Bucket
}

interface Creation {
  readonly key: string
  // The key was free before.
  readonly isNew: boolean
  // Finds the version that the call has made although its answer was lost.
  readonly find: () => Promise<string | undefined>
}

interface Answer {
  readonly VersionId?: string | undefined
  readonly ETag?: string | undefined
  readonly CopyObjectResult?: { readonly ETag?: string | undefined } | undefined
}

// S3 may finish a call a moment after it was cut. In milliseconds.
const secondLook = 1_000

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Waits for a call that makes a version or a delete marker. */
export const awaitVersion = async (
  { doing }: StepBuckets,
  { key, isNew, find }: Creation,
  call: Promise<Answer>,
): Promise<StepResult> => {
  const versions = (versionId: string | undefined): readonly Made[] =>
    versionId ? [{ kind: 'version', key, versionId }] : []
  try {
    const { VersionId, ETag, CopyObjectResult } = await call
    if (VersionId) return { made: versions(VersionId) }
    noteLack(doing, 'versions (of a new bucket, for 15 minutes)', 'what is replaced there cannot be brought back')
    return {
      made: [isNew ? { kind: 'object', key, tag: unquote(ETag ?? CopyObjectResult?.ETag) } : { kind: 'final', key }],
    }
  } catch (failure) {
    if (isRefusedAtOnce(failure)) return { made: [], failure }
    let found = await find()
    if (!found && doing.options.abortSignal?.aborted) {
      await pause(secondLook)
      found = await find()
    }
    return { made: versions(found), failure }
  }
}

/** The result with what a refusal by S3 means: another failure, or none. */
export const explainRefusal = async (
  { made, failure }: StepResult,
  explain: (refusal: unknown) => Promise<unknown>,
): Promise<StepResult> =>
  isRefused(failure) ? { made, failure: await explain(failure).catch((error: unknown) => error) } : { made, failure }

/** Deletes what was made. What was uncovered stays so. */
export const deleteMade = (bucket: Bucket, made: readonly Made[]): Promise<void> =>
  deleteAll(
    bucket,
    made.filter((one) => one.kind === 'version' || one.kind === 'object'),
  )

// Only the version tells an upload of the same bytes apart, and S3 compares tags alone: such an upload may slip in
// before the removal.
const stillUncovered = async (bucket: Bucket, made: readonly Made[]): Promise<readonly Doomed[]> => {
  const uncovered = made.filter((one) => one.kind === 'uncovered')
  const found: Doomed[] = []
  await inParallel(uncovered, callsInFlight, async ({ key, versionId }) => {
    const head = await headObject(bucket, key)
    if (head?.VersionId === versionId) found.push({ kind: 'object', key, tag: unquote(head.ETag) })
  })
  return found
}

/** Reserved to tell the caller, in milliseconds. */
export const timeToReturn = reserves.answer + 500

/** Reserved to find and undo what was made, in milliseconds. */
const timeToUndo = (changes: readonly Change[]): number =>
  3_000 + 0.6 * changes.length + 0.7 * changes.filter((change) => change.kind === 'restore' && change.hiddenBy).length

/** One attempt to make some changes, which can be undone. Call `end` after it. */
export const createAttempt = (bucket: Bucket, changes: readonly Change[], remainingTime: RemainingTime) => {
  const deadline = createDeadline(remainingTime, timeToReturn + timeToUndo(changes))
  const undoDeadline = createDeadline(remainingTime, timeToReturn)
  const finding = until(bucket, undoDeadline.signal)
  const made: Made[] = []

  return {
    deadline,
    undoDeadline,
    buckets: { doing: until(bucket, deadline.signal), finding } satisfies StepBuckets,
    made: made as readonly Made[],

    // Collects what a step has made, also when it fails. Errors: the failure of the step.
    async collect(step: Promise<StepResult>): Promise<readonly Made[]> {
      const result = await step
      made.push(...result.made)
      if (result.failure !== undefined) throw result.failure
      return result.made
    },

    // Brings back what was there before. Answers the failure, or both failures when this fails too.
    async undo(failure: unknown): Promise<unknown> {
      try {
        await deleteMade(finding, made)
        await deleteAll(finding, await stillUncovered(finding, made))
        return failure
      } catch (second) {
        const cause = new AggregateError([failure, second], 'A placement failed, and so did taking it back')
        const passes = second instanceof ServiceError || undoDeadline.signal.aborted
        return new ServiceError(passes ? 'unavailable' : 'unexpected', { cause })
      }
    },

    end(): void {
      deadline.end()
      undoDeadline.end()
    },
  }
}

export type Attempt = ReturnType<typeof createAttempt>
