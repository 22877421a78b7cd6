/**
 * Times of removals on AWS, in seconds. `repeatedFor`: for this time without progress, the worker sends new messages.
 * After that it fails, and the queue delivers the message five times, nine minutes apart: an hour in all. `old`: an
 * open removal of this age triggers its alarm.
 */
export const removalTimes = { repeatedFor: 15 * 60, old: 2 * 3600 } as const
