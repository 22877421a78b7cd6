/** In milliseconds. `wall` counts since the epoch, and may be set back. `monotonic` never goes back. */
export interface Clock {
  readonly wall: () => number
  readonly monotonic: () => number
}

export const systemClock: Clock = { wall: Date.now, monotonic: () => performance.now() }
