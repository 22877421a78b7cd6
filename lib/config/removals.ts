/**
 * Times of removals on AWS, in seconds. `repeatedFor`: without progress, the worker repeats its message for this time.
 * Then the worker fails, and the queue delivers the message five times, nine minutes apart. Together this takes an
 * hour. `old`: an open removal of this age triggers its alarm.
 */
export const removalTimes = { repeatedFor: 15 * 60, old: 2 * 3600 } as const
