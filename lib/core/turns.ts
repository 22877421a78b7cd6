import { ServiceError } from './errors.ts'

interface Limits {
  readonly atOnce: number
  readonly mostWaiting?: number
  readonly refuse?: () => ServiceError
}

/** Runs some work at once and lets the rest wait for its turn, in order. Throws `refuse()` if too many would wait. */
export const createTurns = ({
  atOnce,
  mostWaiting = Number.POSITIVE_INFINITY,
  refuse = () => new ServiceError('unavailable'),
}: Limits) => {
  let running = 0
  const waiting: (() => void)[] = []
  return async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (running < atOnce) running += 1
    else if (waiting.length >= mostWaiting) throw refuse()
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
