import type { constructStack } from '@smithy/core/client'
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry'
import { ServiceError } from '../../core/errors.ts'

/** Whether a store failed in a way that passes: throttled, timed out, away, or cut because time was up. Repeating the request is safe then. */
const isPassing = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error.name === 'AbortError') return true
  const failure = error as Parameters<typeof isThrottlingError>[0]
  return isThrottlingError(failure) || isTransientError(failure) || isServerError(failure)
}

type Stack<Input extends object, Output extends object> = ReturnType<typeof constructStack<Input, Output>>

/** Has a client of AWS fail as the ports promise: `unavailable` when that passes, once it has given up repeating the call itself. */
export const failLikePort = <Input extends object, Output extends object>({
  middlewareStack,
}: {
  readonly middlewareStack: Stack<Input, Output>
}): void =>
  middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args)
      } catch (error) {
        throw isPassing(error) ? new ServiceError('unavailable', { cause: error }) : error
      }
    },
    { step: 'initialize', priority: 'high', name: 'failLikePort' },
  )
