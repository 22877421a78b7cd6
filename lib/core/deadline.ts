import { ServiceError } from './errors.ts'

/** Milliseconds until the request must end; infinite without a deadline. Stores keep some of it to undo a change. */
export type RemainingTime = () => number

export const unlimited: RemainingTime = () => Number.POSITIVE_INFINITY

/** Refuses a change when at most `kept` milliseconds are left. Errors: unavailable. */
export const refuseLate = (remainingTime: RemainingTime, kept = 0): void => {
  if (remainingTime() <= kept) throw new ServiceError('unavailable')
}

/** Milliseconds of a request that are kept for its end. */
export const reserves = {
  /** To tell the caller before Lambda ends the request. */
  answer: 500,
  /** To check and undo a call that was cut off. */
  settle: 2_000,
  /** To answer while the removal of a large folder goes on. */
  removal: 3_000,
  /** To answer with what was counted so far. */
  preview: 5_000,
  /** To place what a restore has found. */
  restore: 10_000,
  /** To move the templates after they are checked. */
  templates: 12_000,
} as const

/** The time that some work has, and what cuts its calls when that is over. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Milliseconds; zero or less when the time is over. */
  readonly timeLeft: () => number
  readonly isOver: () => boolean
  /** Goes before every call that changes something. Errors: unavailable, when the time is over. */
  readonly check: () => void
  /** Waits for a call that cannot be cut, until the time is over. */
  wait<Value>(call: Promise<Value>): Promise<Value>
  /** Stops its timer. */
  end(): void
}

/** Timers of Node take at most this many milliseconds. */
const longestTimer = 2 ** 31 - 1

/** The time that is left of a request, without the last `reserve` milliseconds. Call `end` after the work. */
export const createDeadline = (remainingTime: RemainingTime, reserve = 0): Deadline => {
  const cut = new AbortController()
  const { signal } = cut
  const timeLeft = () => remainingTime() - reserve
  const first = timeLeft()
  const timer = first > 0 && first <= longestTimer ? setTimeout(() => cut.abort(), first) : undefined
  if (first <= 0) cut.abort()
  const isOver = () => signal.aborted || timeLeft() <= 0
  return {
    signal,
    timeLeft,
    isOver,
    check() {
      if (isOver()) throw new ServiceError('unavailable')
    },
    wait(call) {
      // Nobody hears of its failure once the wait is over.
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

/**
 * Runs a change whose calls end at the deadline. Lambda freezes a function with its answer and thaws it with the next
 * request: a call that is still in flight would then overwrite newer changes. Errors: unavailable, those of the change.
 */
export const withDeadline = async <Result>(
  remainingTime: RemainingTime,
  reserve: number,
  change: (deadline: Deadline) => Promise<Result>,
): Promise<Result> => {
  const deadline = createDeadline(remainingTime, reserve)
  try {
    deadline.check()
    return await change(deadline)
  } finally {
    deadline.end()
  }
}
