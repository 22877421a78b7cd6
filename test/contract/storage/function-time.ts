import { setImmediate as turn } from 'node:timers/promises'
import { vi } from 'vitest'
import { createDeadline, type Deadline } from '../../../lib/core/time.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'

/** In milliseconds: the time limit of a function, and the remaining time at which Lambda freezes the function. */
export const functionTime = 28_000
const frozenAt = 500
export const latestAnswer = functionTime - frozenAt
/** In milliseconds: the time by which each turn of the event loop advances the clock. */
export const step = 40

/**
 * Runs a call with the time limit of a function, with fake timers. Each turn of the event loop advances the clock. After
 * `restart`, the call has the whole time again.
 */
export const inFunctionTime = async <Result>(run: (deadline: Deadline, restart: () => void) => Promise<Result>) => {
  let elapsed = 0
  let isOver = false
  const deadline = createDeadline(() => functionTime - elapsed)
  const restart = () => {
    elapsed = 0
  }
  const running = run(deadline, restart).finally(() => {
    isOver = true
  })
  running.catch(() => {})
  for (; !isOver; elapsed += step) {
    await turn()
    vi.advanceTimersByTime(step)
  }
  return { result: await running, elapsed }
}

/** The ways in which a call is slow. In the last one, its request arrives after the call was cut. */
export const slownesses = ['waits before its request', 'waits for its answer', 'arrives late'] as const
export type Slowness = (typeof slownesses)[number]

/** Makes the call with this number slow, from 1 on. `release` lets requests arrive that are under way. */
export const slowDown = (s3: MemoryS3, number: number, slowness: Slowness) => {
  let calls = 0
  const held = Promise.withResolvers<void>()
  s3.before = async (request) => {
    calls += 1
    if (calls !== number) return
    const handle = () => s3.requestHandler.handle(request)
    if (slowness === 'waits for its answer') await handle()
    // The call is cut after 23 or 24 seconds.
    if (slowness === 'arrives late') setTimeout(() => void handle(), 24_500)
    await held.promise
  }
  return {
    calls: () => calls,
    async release() {
      s3.before = async () => undefined
      held.resolve()
      vi.advanceTimersByTime(10_000)
      for (let count = 0; count < 50; count++) await turn()
    },
  }
}
