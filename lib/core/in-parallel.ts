import { ServiceError } from './errors.ts'

export const chunksOf = <Value>(values: readonly Value[], size: number): Value[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))

/**
 * Works on the items in order, at most `most` at once. After the first failure it starts no more work, waits for the
 * running work, and then throws the failure. (p-map rejects while other calls still run, which is too early for an
 * undo.)
 */
export const inParallel = async <Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  most: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> => {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  const failures: unknown[] = []
  const worker = async (): Promise<void> => {
    try {
      while (failures.length === 0) {
        const next = await source.next()
        if (next.done || failures.length > 0) return
        await work(next.value)
      }
    } catch (error) {
      failures.push(error)
    }
  }
  await Promise.all(Array.from({ length: most }, worker))
  if (failures.length === 0) return
  await Promise.allSettled([source.return?.()])
  throw failures[0]
}

export const settleAll = async <const Values extends readonly unknown[]>(
  values: Values,
): Promise<{ -readonly [Index in keyof Values]: Awaited<Values[Index]> }> => {
  await Promise.allSettled(values)
  return Promise.all(values)
}

interface Limits {
  readonly atOnce: number
  readonly mostWaiting?: number
  readonly refuse?: () => ServiceError
}

/**
 * Runs some work at once and lets the rest wait for its turn, in order. Throws `refuse()` if too many would wait, or if
 * `signal` ends the wait.
 */
export const createTurns = ({
  atOnce,
  mostWaiting = Number.POSITIVE_INFINITY,
  refuse = () => new ServiceError('unavailable'),
}: Limits) => {
  let running = 0
  const waiting: (() => void)[] = []
  const wait = (signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        waiting.splice(waiting.indexOf(begin), 1)
        reject(refuse())
      }
      waiting.push(begin)
      signal?.addEventListener('abort', leave)
    })
  return async <Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value> => {
    if (signal?.aborted) throw refuse()
    if (running < atOnce) running += 1
    else if (waiting.length >= mostWaiting) throw refuse()
    else await wait(signal)
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
