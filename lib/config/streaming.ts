/**
 * Facts that the streaming function and its deployment share. In seconds: Lambda limits a request (`longestRequest`), and
 * the distribution the wait for an answer behind the whole request.
 */
export const streaming = {
  secretHeader: 'x-origin-secret',
  longestRequest: 900,
  longestWait: 60,
  requestsAtOnce: 16,
  /** As in `npm start`: data from sockets is freed soon. */
  nodeOptions: '--max-semi-space-size=2',
} as const
