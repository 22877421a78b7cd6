/**
 * How a client of AWS waits, in milliseconds, for the handler of its requests: until it is connected, until the head of the answer is there, and
 * between any two pieces of it. Whoever waits too long fails with a TimeoutError. (`throwOnRequestTimeout` is off in the SDK: it only warns
 * then, and waits on.)
 */
export const waiting = ({
  requestTimeout,
  socketTimeout = requestTimeout,
}: {
  readonly requestTimeout: number
  readonly socketTimeout?: number
}) => ({ connectionTimeout: 1_000, requestTimeout, socketTimeout, throwOnRequestTimeout: true })

/** For calls that carry little, either way. */
export const callTimes = waiting({ requestTimeout: 3_000 })
