import { afterEach, expect, test, vi } from 'vitest'
import { interruptibly } from '../../../admin/terminal/interruption.ts'

afterEach(() => void vi.useRealTimers())

test('two interruptions at once end a command cleanly, and a later interruption kills the command', async () => {
  vi.useFakeTimers()
  const listening = () => process.listenerCount('SIGINT')
  const before = listening()
  const { promise, resolve } = Promise.withResolvers<string>()
  const ended = interruptibly(async (signal) => {
    signal.addEventListener('abort', () => resolve(String(signal.reason.message)))
    return promise
  }, new Error('Interrupted'))
  expect(listening()).toBe(before + 1)
  process.emit('SIGINT')
  // Without a listener, the system ends the process.
  expect(listening()).toBe(before + 1)
  process.emit('SIGINT')
  vi.advanceTimersByTime(1_000)
  expect(listening()).toBe(before)
  expect(await ended).toBe('Interrupted')
})
