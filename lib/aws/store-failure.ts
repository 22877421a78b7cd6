import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry'

/** Whether a store failed in a way that passes: throttled, timed out, away. Repeating the request is safe then. */
export const isStoreUnavailable = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const failure = error as Parameters<typeof isThrottlingError>[0]
  return isThrottlingError(failure) || isTransientError(failure) || isServerError(failure)
}
