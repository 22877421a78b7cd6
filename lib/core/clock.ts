/** In milliseconds. */
export interface Clock {
  // Since the epoch. It may be set back.
  readonly wall: () => number
  // It never goes back.
  readonly monotonic: () => number
}

export const systemClock: Clock = { wall: Date.now, monotonic: () => performance.now() }
