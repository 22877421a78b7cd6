import type { constructStack } from '@smithy/core/client'
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry'
import { ServiceError } from '../../core/errors.ts'

/**
 * In milliseconds: the time until an answer begins, and the time between two pieces of it. A slower call fails with a
 * TimeoutError. Without `throwOnRequestTimeout` the SDK would only warn, and keep waiting.
 */
export const timeouts = (requestTimeout: number, socketTimeout = requestTimeout) => ({
  connectionTimeout: 1_000,
  requestTimeout,
  socketTimeout,
  throwOnRequestTimeout: true,
})

export const smallCallTimeouts = timeouts(3_000)

// True when the store was throttled, did not answer in time or was unreachable, or when the deadline cut off the call.
// Then the request may be repeated.
const isTransient = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error.name === 'AbortError' || /throttl/i.test(error.name)) return true
  const failure = error as Parameters<typeof isThrottlingError>[0]
  return isThrottlingError(failure) || isTransientError(failure) || isServerError(failure)
}

/** Makes a client throw `unavailable` for a transient failure, if the client has repeated the call without success. */
export const failLikePort = <Input extends object, Output extends object, Client>(
  client: Client & { readonly middlewareStack: ReturnType<typeof constructStack<Input, Output>> },
): Client => {
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args)
      } catch (error) {
        throw isTransient(error) ? new ServiceError('unavailable', { cause: error }) : error
      }
    },
    { step: 'initialize', priority: 'high', name: 'failLikePort' },
  )
  return client
}
