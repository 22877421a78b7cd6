/** In milliseconds. `wall` counts since the epoch, and may be set back. `monotonic` never goes back. */
export interface Clock {
  readonly wall: () => number
  readonly monotonic: () => number
}

export const systemClock: Clock = { wall: Date.now, monotonic: () => performance.now() }

/** `seconds`: epoch seconds. */
export const inIso = (seconds: number): string => new Date(seconds * 1000).toISOString()

/** A day in UTC, such as 2026-01-31. `moment`: epoch milliseconds. */
export const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10)
