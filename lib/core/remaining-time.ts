import { ServiceError } from './errors.ts'

/**
 * Milliseconds until a request has to end; infinite where it never does. It is asked again and again, and nobody waits without it. A store keeps
 * back of it what it needs for taking a change back, begins nothing after that, and answers before it is over.
 */
export type RemainingTime = () => number

/** For what no request waits for, such as commands. */
export const unlimited: RemainingTime = () => Number.POSITIVE_INFINITY

/** Refuses a change when less than so many milliseconds are left. Errors: unavailable. */
export const refuseLate = (remainingTime: RemainingTime, kept = 0): void => {
  if (remainingTime() <= kept) throw new ServiceError('unavailable')
}
