import { type RemainingTime, refuseLate } from '../../core/remaining-time.ts'
import { createTimeLimit } from './time-limit.ts'

/** Time that is kept, before Lambda ends a request, for telling the caller so: in milliseconds. */
export const timeToAnswer = 500

/** What a change keeps for looking at what a call has done that was cut, and for taking it back; in milliseconds. */
export const timeToSettle = 2_000

/** The time that the calls of one change have. */
export interface Allowance {
  /** Cuts a call that is in flight when the time is up. */
  readonly abortSignal: AbortSignal
  /** Goes before whatever changes something. Errors: unavailable, when the time is up. */
  readonly check: () => void
}

/**
 * Runs a change whose calls end when no more than `kept` milliseconds are left of the request. A function is frozen with its answer, and thawed
 * with the next request: whatever it had begun would go on then, and overwrite what has been acknowledged since. Errors: unavailable, those of
 * the change.
 */
export const inTime = async <Result>(
  remainingTime: RemainingTime,
  kept: number,
  change: (allowance: Allowance) => Promise<Result>,
): Promise<Result> => {
  refuseLate(remainingTime, kept)
  const limit = createTimeLimit(remainingTime, kept)
  try {
    return await change({ abortSignal: limit.signal, check: () => refuseLate(remainingTime, kept) })
  } finally {
    limit.end()
  }
}
