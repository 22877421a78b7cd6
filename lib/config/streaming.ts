/**
 * Facts that the streaming function and its deployment share. Times are in seconds. `longestRequest` is Lambda's limit
 * for a request. `longestWait` is the limit of CloudFront for the time between the end of a request and its answer.
 */
export const streaming = {
  secretHeader: 'x-origin-secret',
  longestRequest: 900,
  longestWait: 60,
  requestsAtOnce: 16,
  /** With this flag, which `npm start` also uses, Node soon frees the memory of data from sockets. */
  nodeOptions: '--max-semi-space-size=2',
} as const
