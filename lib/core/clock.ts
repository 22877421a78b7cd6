/** The two clocks that a machine has, in milliseconds. */
export interface Clock {
  /** What people read, since the epoch. It may be set back. */
  readonly wall: () => number
  /** What durations are measured with, since some moment. It never goes back. */
  readonly monotonic: () => number
}

export const systemClock: Clock = { wall: Date.now, monotonic: () => performance.now() }
