import type { CopyObjectCommandOutput, PutObjectCommandOutput } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { type Deadline, reserves } from '../../core/time.ts'
import { type Change, NotPlaced } from '../../storage/object-store.ts'
import { type Bucket, isRefused, isRefusedAtOnce, noteLack, type StepBucket, unquote, until } from './bucket.ts'
import { sendCopy } from './copy.ts'
import { type Doomed, deleteAll, hideAll } from './delete.ts'
import type { Spare } from './stage.ts'

/**
 * The result of a step: a version, a delete marker, or an old version that lost its markers. A bucket whose versioning
 * is new returns no version ids. Then only an object at a key that was free can be undone.
 */
export type Made =
  | (Doomed & { readonly spare?: Spare })
  | { readonly kind: 'uncovered' | 'final'; readonly key: string }

export interface StepResult {
  readonly made: readonly Made[]
  readonly failure?: unknown
}

// In milliseconds: S3 may finish a call a moment after it was cut off.
const secondLook = 1_000

export const awaitLateCalls = async ({ options: { abortSignal } }: Bucket): Promise<void> => {
  if (abortSignal?.aborted) await new Promise((resolve) => setTimeout(resolve, secondLook))
}

const findLost = async (bucket: Bucket, failure: unknown, find: () => Promise<Made | undefined>) => {
  if (isRefusedAtOnce(failure)) return []
  let found = await find()
  if (!found && bucket.options.abortSignal?.aborted) {
    await awaitLateCalls(bucket)
    found = await find()
  }
  return found ? [found] : []
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

export const awaitVersion = async (
  bucket: StepBucket,
  { key, isNew, spare, find, explain }: Creation,
  call: Promise<Answer>,
): Promise<StepResult> => {
  const version = (versionId: string | undefined): Made | undefined =>
    versionId ? { kind: 'version', key, versionId, ...(spare && { spare }) } : undefined
  try {
    const { VersionId, ETag, CopyObjectResult } = await call
    const made = version(VersionId)
    if (made) return { made: [made] }
    noteLack(bucket, 'versions (of a new bucket, for 15 minutes)')
    if (!isNew) return { made: [{ kind: 'final', key }] }
    return { made: [{ kind: 'object', key, tag: unquote(ETag ?? CopyObjectResult?.ETag) }] }
  } catch (failure) {
    const made = await findLost(bucket, failure, async () => version(await find(bucket.finding)))
    return { made, failure: isRefused(failure) ? await explain(failure).catch((error: unknown) => error) : failure }
  }
}

export const undoResults = async (bucket: Bucket, made: readonly Made[]): Promise<void> => {
  const uncovered = made.filter(({ kind }) => kind === 'uncovered').map(({ key }) => key)
  const doomed = made.filter((one) => one.kind === 'version' || one.kind === 'object')
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

export const createAttempt = (given: Bucket, changes: readonly Change[], whole: Deadline) => {
  const deadline = whole.reserving(timeToReturn + timeToUndo(changes))
  const undoDeadline = whole.reserving(timeToReturn)
  const finding = until(given, undoDeadline.signal)
  const bucket = { ...until(given, deadline.signal), finding }
  const made: Made[] = []

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
    deadline,
    undoDeadline,
    bucket,
    made: made as readonly Made[],

    async collect(step: Promise<StepResult>): Promise<readonly Made[]> {
      const result = await step
      made.push(...result.made)
      if (result.failure !== undefined) throw result.failure
      return result.made
    },

    async undo(failure: unknown): Promise<unknown> {
      try {
        const endsUpload = failure instanceof NotPlaced && ['locked', 'occupied'].includes(failure.outcome.outcome)
        if (!endsUpload) await saveSpares().catch(() => {})
        await undoResults(finding, made)
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
