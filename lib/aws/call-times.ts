/**
 * What a call to AWS may take, in milliseconds, for the handler of requests of every client: until it is connected, until the head of the answer
 * is there, and between any two pieces of it. Without `throwOnRequestTimeout` the client only warns, and waits on.
 */
export const callTimes = {
  connectionTimeout: 1_000,
  requestTimeout: 3_000,
  socketTimeout: 3_000,
  throwOnRequestTimeout: true,
} as const
