/**
 * How a client of AWS waits, in milliseconds: for a connection, for the beginning of an answer, and while nothing comes over a socket.
 * Whoever waits too long fails with a TimeoutError. (`throwOnRequestTimeout` is off in the SDK: it only warns then, and waits on.)
 */
export const waiting = ({
  requestTimeout,
  socketTimeout = requestTimeout,
}: {
  readonly requestTimeout: number
  readonly socketTimeout?: number
}) => ({ connectionTimeout: 1_000, requestTimeout, socketTimeout, throwOnRequestTimeout: true })
