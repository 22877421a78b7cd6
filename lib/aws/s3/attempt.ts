import { type Deadline, reserves } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Change } from '../../storage/object-store.ts'
import { type Bucket, callsInFlight, isRefused, isRefusedAtOnce, noteLack, unquote, until } from './bucket.ts'
import { type Doomed, deleteAll } from './delete.ts'
import { headObject } from './find.ts'

interface Uncovered {
  readonly kind: 'uncovered'
  readonly key: string
  readonly versionId: string
}

/**
 * The result of a step: a version or a delete marker, or an old version that lost its markers. A bucket with new
 * versioning returns no versions: there, only an object at a free key can be undone.
 */
export type Made = Doomed | Uncovered | { readonly kind: 'final'; readonly key: string }

export interface StepResult {
  readonly made: readonly Made[]
  readonly failure?: unknown
}

/**
 * The bucket with the deadline for changes, and with the one for finding the results of calls whose answer was lost.
 */
export interface StepBuckets {
  readonly doing: Bucket
  readonly finding: Bucket
}

// S3 may finish a call a moment after it was cut. In milliseconds.
const secondLook = 1_000

/** Finds the result of a call whose answer was lost. If S3 refused the call, it made nothing. */
const findLost = async (
  { doing }: StepBuckets,
  failure: unknown,
  find: () => Promise<Made | undefined>,
): Promise<readonly Made[]> => {
  if (isRefusedAtOnce(failure)) return []
  let found = await find()
  if (!found && doing.options.abortSignal?.aborted) {
    await new Promise((resolve) => setTimeout(resolve, secondLook))
    found = await find()
  }
  return found ? [found] : []
}

interface Creation {
  readonly key: string
  readonly isNew: boolean
  // Finds the version of a call whose answer was lost.
  readonly find: () => Promise<string | undefined>
}

interface Answer {
  readonly VersionId?: string | undefined
  readonly ETag?: string | undefined
  readonly CopyObjectResult?: { readonly ETag?: string | undefined } | undefined
}

export const awaitVersion = async (
  buckets: StepBuckets,
  { key, isNew, find }: Creation,
  call: Promise<Answer>,
): Promise<StepResult> => {
  const version = (versionId: string | undefined): Made | undefined =>
    versionId ? { kind: 'version', key, versionId } : undefined
  try {
    const { VersionId, ETag, CopyObjectResult } = await call
    const made = version(VersionId)
    if (made) return { made: [made] }
    noteLack(buckets.doing, 'versions (of a new bucket, for 15 minutes)')
    if (!isNew) return { made: [{ kind: 'final', key }] }
    return { made: [{ kind: 'object', key, tag: unquote(ETag ?? CopyObjectResult?.ETag) }] }
  } catch (failure) {
    return { made: await findLost(buckets, failure, async () => version(await find())), failure }
  }
}

/** Replaces a refusal by S3 with the failure that it means, or with none. */
export const explainRefusal = async (
  { made, failure }: StepResult,
  explain: (refusal: unknown) => Promise<unknown>,
): Promise<StepResult> =>
  isRefused(failure) ? { made, failure: await explain(failure).catch((error: unknown) => error) } : { made, failure }

// S3 compares only tags. Another caller may upload the same bytes before the removal, and only the version would
// differ.
const hideAgain = async (bucket: Bucket, uncovered: readonly Uncovered[]): Promise<void> => {
  const found: Doomed[] = []
  await inParallel(uncovered, callsInFlight, async ({ key, versionId }) => {
    const head = await headObject(bucket, key)
    if (head?.VersionId === versionId) found.push({ kind: 'object', key, tag: unquote(head.ETag) })
  })
  await deleteAll(bucket, found)
}

export const undoResults = async (bucket: Bucket, made: readonly Made[]): Promise<void> => {
  const doomed: Doomed[] = []
  const uncovered: Uncovered[] = []
  for (const one of made) {
    if (one.kind === 'uncovered') uncovered.push(one)
    else if (one.kind !== 'final') doomed.push(one)
  }
  await deleteAll(bucket, doomed)
  await hideAgain(bucket, uncovered)
}

export const timeToReturn = reserves.answer + 500

/** Reserved to find and undo results, in milliseconds. */
const timeToUndo = (changes: readonly Change[]): number =>
  3_000 + 0.6 * changes.length + 0.7 * changes.filter((change) => change.kind === 'restore' && change.hiddenBy).length

export const createAttempt = (bucket: Bucket, changes: readonly Change[], given: Deadline) => {
  const deadline = given.reserving(timeToReturn + timeToUndo(changes))
  const undoDeadline = given.reserving(timeToReturn)
  const buckets: StepBuckets = { doing: until(bucket, deadline.signal), finding: until(bucket, undoDeadline.signal) }
  const made: Made[] = []

  return {
    deadline,
    undoDeadline,
    buckets,
    made: made as readonly Made[],

    async collect(step: Promise<StepResult>): Promise<readonly Made[]> {
      const result = await step
      made.push(...result.made)
      if (result.failure !== undefined) throw result.failure
      return result.made
    },

    // Returns the failure, or both failures if undoing fails too.
    async undo(failure: unknown): Promise<unknown> {
      try {
        await undoResults(buckets.finding, made)
        return failure
      } catch (second) {
        const cause = new AggregateError([failure, second], 'A placement failed, and undoing it failed, too')
        const passes = second instanceof ServiceError || undoDeadline.signal.aborted
        return new ServiceError(passes ? 'unavailable' : 'unexpected', { cause })
      }
    },

    [Symbol.dispose](): void {
      deadline[Symbol.dispose]()
      undoDeadline[Symbol.dispose]()
    },
  }
}

export type Attempt = ReturnType<typeof createAttempt>
