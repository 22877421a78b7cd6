import { ServiceError } from './errors.ts'

/** Milliseconds until the request must end; infinite without a deadline. Stores keep some of it to undo a change. */
export type RemainingTime = () => number

export const unlimited: RemainingTime = () => Number.POSITIVE_INFINITY

/** Refuses a change when at most `kept` milliseconds are left. Errors: unavailable. */
export const refuseLate = (remainingTime: RemainingTime, kept = 0): void => {
  if (remainingTime() <= kept) throw new ServiceError('unavailable')
}
