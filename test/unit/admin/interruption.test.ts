import { afterEach, expect, test, vi } from 'vitest'
import { interruptibly } from '../../../admin/terminal/interruption.ts'

afterEach(() => void vi.useRealTimers())

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'two %s at once end a command cleanly, and a later one kills the command (T-67)',
  async (signal) => {
    vi.useFakeTimers()
    const listening = () => process.listenerCount(signal)
    const before = listening()
    const { promise, resolve } = Promise.withResolvers<string>()
    const ended = interruptibly(async (interruption) => {
      interruption.addEventListener('abort', () => resolve(String(interruption.reason.message)))
      return promise
    }, new Error('Interrupted'))
    expect(listening()).toBe(before + 1)
    process.emit(signal)
    // Without a listener, the system ends the process.
    expect(listening()).toBe(before + 1)
    process.emit(signal)
    vi.advanceTimersByTime(1_000)
    expect(listening()).toBe(before)
    expect(await ended).toBe('Interrupted')
  },
)
