import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createDeadline, unlimited } from '../../lib/core/time.ts'

let time = 0
const now = () => time

beforeEach(() => {
  time = 1_000
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => void vi.useRealTimers())

it('after its end, a deadline refuses changes and aborts calls', () => {
  using deadline = unlimited.within(500, now)
  const { signal } = deadline
  time += 499
  vi.advanceTimersByTime(499)
  expect([deadline.timeLeft(), deadline.isOver(), signal.aborted]).toEqual([1, false, false])
  deadline.check()
  time += 1
  vi.advanceTimersByTime(1)
  expect([deadline.timeLeft(), deadline.isOver(), signal.aborted]).toEqual([0, true, true])
  expect(deadline.check).toThrow(expect.objectContaining({ code: 100503 }))
})

it('reserved time makes a deadline earlier, and inner ones end first', () => {
  const request = createDeadline(() => 9_000 - time)
  expect(request.reserving(500).timeLeft()).toBe(7_500)
  expect(request.within(1_000, now).timeLeft()).toBe(1_000)
  expect(request.within(90_000, now).timeLeft()).toBe(8_000)
  expect(request.reserving(500).within(7_800, now).timeLeft()).toBe(7_500)
  expect(request.reserving(8_000).isOver()).toBe(true)
})

it('a deadline aborts no calls after the work has ended', () => {
  const cut = (() => {
    using deadline = unlimited.within(500, now)
    return deadline.signal
  })()
  vi.advanceTimersByTime(1_000)
  expect(cut.aborted).toBe(false)
})

it('a deadline ends the wait for a call that cannot be aborted', async () => {
  using deadline = unlimited.within(500, now)
  expect(await deadline.wait(Promise.resolve('answer'))).toBe('answer')
  const waiting = expect(deadline.wait(new Promise(() => {}))).rejects.toMatchObject({ code: 100503 })
  vi.advanceTimersByTime(500)
  await waiting
})
