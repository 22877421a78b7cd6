import type { RemainingTime } from '../../core/remaining-time.ts'

/** A span of time at whose end what is in flight is cut. */
export interface TimeLimit {
  readonly signal: AbortSignal
  /** Whether nothing may be begun any more. */
  readonly isUp: () => boolean
  /** Waits for what cannot be cut, until the time is up. */
  wait<Value>(call: Promise<Value>): Promise<Value>
  /** Lets go of its timer. */
  end(): void
}

/** Timers of Node hold no more milliseconds than this. */
const longestTimer = 2 ** 31 - 1

/** What is left of a request, all but `kept` milliseconds of it. `remainingTime` is asked again and again. */
export const createTimeLimit = (remainingTime: RemainingTime, kept: number): TimeLimit => {
  const cut = new AbortController()
  const { signal } = cut
  const left = remainingTime() - kept
  const timer = left > 0 && left <= longestTimer ? setTimeout(() => cut.abort(), left) : undefined
  if (left <= 0) cut.abort()
  return {
    signal,
    isUp: () => signal.aborted || remainingTime() <= kept,
    wait(call) {
      // Whoever has stopped waiting for it is not told of its failure.
      call.catch(() => {})
      return new Promise((resolve, reject) => {
        const stop = () => reject(signal.reason)
        if (signal.aborted) stop()
        signal.addEventListener('abort', stop, { once: true })
        call.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
      })
    },
    end: () => clearTimeout(timer),
  }
}
