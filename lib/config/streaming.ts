/** Facts that the streaming function and its deployment share. */
export const streaming = {
  /** The header with the secret of the distribution. */
  secretHeader: 'x-origin-secret',
  /** Lambda's limit for a request, in seconds. */
  longestRequest: 900,
  /** The distribution's limit for an answer after the whole request, in seconds. */
  longestWait: 60,
  requestsAtOnce: 16,
  /** As in `npm start`: data from sockets is freed soon. */
  nodeOptions: '--max-semi-space-size=2',
} as const
