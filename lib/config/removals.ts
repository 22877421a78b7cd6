/**
 * Times of removals on AWS, in seconds. `repeatedFor`: without progress, the worker sends new messages for so long. From
 * then on it fails, so the queue delivers the message five times, nine minutes apart: an hour in all. `old`: the age of
 * an open removal at which its alarm goes off.
 */
export const removalTimes = { repeatedFor: 15 * 60, old: 2 * 3600 } as const
