/**
 * Times of removals on AWS, in seconds. Without progress, the worker repeats its message for the time `repeatedFor`.
 * Then the worker fails, and the queue delivers the message five times, nine minutes apart. Together this takes an
 * hour. An alarm reports an open removal whose age is `old`.
 */
export const removalTimes = { repeatedFor: 15 * 60, old: 2 * 3600 } as const
