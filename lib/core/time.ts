import { ServiceError } from './errors.ts'

/** In milliseconds. `wall` counts since the epoch, and may be set back. `monotonic` never goes back. */
export interface Clock {
  readonly wall: () => number
  readonly monotonic: () => number
}

export const systemClock: Clock = { wall: Date.now, monotonic: () => performance.now() }

/** `seconds` counts from the epoch, and so does `moment`, in milliseconds. The day is in UTC, such as 2026-01-31. */
export const inIso = (seconds: number): string => new Date(seconds * 1000).toISOString()

export const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10)

/**
 * Milliseconds at the end of a request, each reserved for one purpose. `answer`: answering before Lambda ends the
 * request. `settle`: checking and undoing a call that was cut off. `removal`, `preview`: answering while a large folder
 * is still being removed or counted. `restore`: placing the files that a restore has found. `templates`: moving
 * templates after their check.
 */
export const reserves = {
  answer: 500,
  settle: 2_000,
  removal: 3_000,
  preview: 5_000,
  restore: 10_000,
  templates: 12_000,
} as const

/**
 * The time for some work, and the signal that aborts its calls when the time is up. Lambda freezes a function after its
 * answer and thaws it for the next request: a call that is still in flight would then overwrite newer changes.
 */
export interface Deadline extends Disposable {
  /** Aborts when the time is up. Dispose of the deadline after you have used its signal: this stops its timer. */
  readonly signal: AbortSignal
  readonly timeLeft: () => number
  readonly isOver: () => boolean
  /** Call this before every call that changes something. Errors: unavailable, when the time is up. */
  readonly check: () => void
  /** Waits for a call that cannot be aborted. Errors: unavailable, when the time is up. */
  wait<Value>(call: Promise<Value>): Promise<Value>
  reserving(milliseconds: number): Deadline
  within(milliseconds: number, now: () => number): Deadline
}

export const createDeadline = (timeLeft: () => number): Deadline => {
  let controller: AbortController | undefined
  let timer: NodeJS.Timeout | undefined

  const startTimer = (): AbortController => {
    const cut = new AbortController()
    const left = timeLeft()
    if (left <= 0) cut.abort()
    else if (Number.isFinite(left)) timer = setTimeout(() => cut.abort(), left)
    return cut
  }
  const signalOf = (): AbortSignal => {
    controller ??= startTimer()
    return controller.signal
  }
  const isOver = () => controller?.signal.aborted || timeLeft() <= 0

  return {
    get signal() {
      return signalOf()
    },
    timeLeft,
    isOver,
    check() {
      if (isOver()) throw new ServiceError('unavailable')
    },
    wait(call) {
      const signal = signalOf()
      // If the time is up first, no other code handles a later failure of the call.
      call.catch(() => {})
      return new Promise((resolve, reject) => {
        const stop = () => reject(new ServiceError('unavailable', { cause: signal.reason }))
        if (signal.aborted) stop()
        signal.addEventListener('abort', stop, { once: true })
        call.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
      })
    },
    reserving: (milliseconds) => createDeadline(() => timeLeft() - milliseconds),
    within(milliseconds, now) {
      const end = now() + milliseconds
      return createDeadline(() => Math.min(timeLeft(), end - now()))
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

export const unlimited: Deadline = /* @__PURE__ */ createDeadline(() => Number.POSITIVE_INFINITY)
