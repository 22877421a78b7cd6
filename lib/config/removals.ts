/**
 * How long a removal on AWS continues without progress, and when it counts as old. In seconds. The worker repeats it
 * after failures of the store until `repeatedFor` has passed. From then on the worker fails, so the queue repeats the
 * message five times, nine minutes apart, and moves it to the dead letters after an hour.
 */
export const removalTimes = { repeatedFor: 15 * 60, old: 2 * 3600 } as const
