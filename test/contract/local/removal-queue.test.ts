import { afterEach, expect, test, vi } from 'vitest'
import type { SiteId } from '../../../lib/core/ids.ts'
import { createRemovalQueue } from '../../../lib/machine/tables/removal-queue.ts'
import type { RemovalMessage, Rest } from '../../../lib/storage/continue-removal.ts'
import type { RemovalTask } from '../../../lib/storage/object-store.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { createGate } from '../../support/gate.ts'
import { scratchFile, scratchTables } from '../../support/scratch-database.ts'

const task = (id: string): RemovalTask => ({ site: 1001 as SiteId, path: toStoragePath(`folders/${id}`), id })

/** A queue, and the messages that its worker received. */
const openQueue = (file = scratchFile(), answers: (Rest | undefined | Error)[] = []) => {
  const database = scratchTables(file)
  const queue = createRemovalQueue(database)
  const worked: string[] = []
  const work = async ({ task: { id } }: RemovalMessage) => {
    worked.push(id)
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  }
  return { file, queue, worked, work }
}

/** Waits for the worker, because it sends no answer. */
const until = (holds: () => boolean) => vi.waitUntil(holds, { timeout: 10_000, interval: 1 })

afterEach(() => void vi.useRealTimers())

test('an unfinished removal is kept for the next start, whatever its delay is', async () => {
  const first = openQueue()
  await first.queue.start(first.work)
  await first.queue.send(task('a'), 900)
  await first.queue.stop()
  expect(first.worked).toEqual([])
  const next = openQueue(first.file)
  await next.queue.start(next.work)
  await until(() => next.worked.length === 1)
  await next.queue.stop()
  const last = openQueue(first.file)
  await last.queue.start(last.work)
  await last.queue.stop()
  expect([next.worked, last.worked]).toEqual([['a'], []])
})

test('the running slice of a removal is completed before the queue stops', async () => {
  const { queue } = openQueue()
  const slice = createGate()
  let isDone = false
  await queue.start(async () => {
    await slice.pass()
    isDone = true
    return undefined
  })
  await queue.send(task('a'), 0)
  const stopping = queue.stop()
  slice.open()
  await stopping
  expect(isDone).toBe(true)
})

test('a message and the rest of a removal are delivered after their delays', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const { queue, worked, work } = openQueue(undefined, [{ delay: 0 }, { delay: 5 }])
  await queue.start(work)
  await queue.send(task('a'), 20)
  await vi.advanceTimersByTimeAsync(19_000)
  expect(worked).toEqual([])
  await vi.advanceTimersByTimeAsync(1_001)
  expect(worked).toEqual(['a', 'a'])
  await vi.advanceTimersByTimeAsync(4_000)
  expect(worked).toEqual(['a', 'a'])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(worked).toEqual(['a', 'a', 'a'])
  await queue.stop()
})

test('a failure is logged and tried again later, while other removals continue', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const { queue, worked, work } = openQueue(undefined, [new Error('The disk is full')])
  await queue.start(work)
  await queue.send(task('a'), 0)
  await queue.send(task('b'), 0)
  await vi.waitUntil(() => worked.length === 2, { interval: 1 })
  expect(printed).toHaveBeenCalledOnce()
  await vi.advanceTimersByTimeAsync(5_001)
  expect(worked).toEqual(['a', 'b', 'a'])
  await queue.stop()
})
