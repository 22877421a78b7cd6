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

/**
 * Times of removals on AWS, in seconds. Without progress, the worker repeats its message for the time `repeatedFor`.
 * Then the worker fails, and the queue delivers the message five times, nine minutes apart. Together this takes an
 * hour. An alarm reports an open removal whose age is `old`.
 */
export const removalTimes = { repeatedFor: 15 * 60, old: 2 * 3600 } as const

/** V-28: the metrics that the functions publish. One machine has the same names. */
export const ownMetrics = {
  namespace: 'site-admin',
  signIns: 'site_admin_sign_ins_total',
  oldestRemoval: 'site_admin_oldest_removal_age_seconds',
  failingWebhooks: 'site_admin_webhooks_failing',
  oldestWebhookFailure: 'site_admin_oldest_webhook_failure_age_seconds',
  waitingWebhooks: 'site_admin_webhooks_waiting',
} as const
