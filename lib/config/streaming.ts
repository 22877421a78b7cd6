/**
 * Facts that the streaming function and its deployment share. In seconds. `longestRequest` is Lambda's limit for a
 * request; the other one is the limit of the distribution for the wait between a whole request and its answer.
 */
export const streaming = {
  secretHeader: 'x-origin-secret',
  longestRequest: 900,
  longestWait: 60,
  requestsAtOnce: 16,
  /** As in `npm start`: memory of data from sockets is freed soon. */
  nodeOptions: '--max-semi-space-size=2',
} as const
