/** What the function that streams and its deployment have to agree on. */
export const streaming = {
  /** The header by which the distribution shows that a request comes from it. */
  secretHeader: 'x-origin-secret',
  /** How long a request may take from its first byte on, in seconds: as long as Lambda lets any. */
  longestRequest: 900,
  /** How long the distribution waits for an answer when it has handed over all of a request, in seconds. */
  longestWait: 60,
  /** How many requests one process has at once. */
  requestsAtOnce: 16,
  /** What its Node is told: as in `npm start`, what comes over sockets is let go of soon. */
  nodeOptions: '--max-semi-space-size=2',
} as const
