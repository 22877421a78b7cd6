import { randomUUID } from 'node:crypto'
import type { Context, SQSEvent } from 'aws-lambda'
import { expect, test, vi } from 'vitest'
import { createFolderRemovals } from '../../../../lib/aws/dynamodb/folder-removals.ts'
import { createRemovalWorker } from '../../../../lib/aws/lambda/removal-worker.ts'
import { ServiceError } from '../../../../lib/core/errors.ts'
import type { HistoryEntry } from '../../../../lib/core/history-entry.ts'
import type { SiteId } from '../../../../lib/core/ids.ts'
import { chunksOf } from '../../../../lib/core/in-parallel.ts'
import type { RemovalTask } from '../../../../lib/storage/object-store.ts'
import { toStoragePath } from '../../../../lib/storage/path.ts'
import { aroundCalls } from '../../../support/around-calls.ts'
import { openBucketInMemory, openObjectStore } from '../../../support/bucket.ts'
import { entry } from '../../../support/history.ts'
import { openMemoryTables } from '../../../support/memory-dynamodb.ts'
import type { MemoryS3 } from '../../../support/memory-s3.ts'
import { isBatch } from '../../storage/s3-bench.ts'
import { createQueue, type Message, wholeTime } from '../removal-queue.ts'

const task: RemovalTask = { site: 1001 as SiteId, path: toStoragePath('large'), id: 'removal' }
const prefix = 'live/1001/large/'
const pages = 100
const pageSize = 1_000
const minute = 60_000
/** In milliseconds. A worker removes 24 pages in its time. */
const timeOfPage = 2_500

/** Behind each file is the delete marker of a file that was removed earlier. */
const fillFolder = async ({ requestHandler }: MemoryS3) => {
  const names = Array.from({ length: pages * pageSize }, (_, index) => `${prefix}${String(index).padStart(6, '0')}`)
  for (const some of chunksOf(names, pageSize)) {
    const put = { method: 'PUT', query: {}, headers: {} }
    await Promise.all(some.map((name) => requestHandler.handle({ ...put, path: `/memory/${name}` })))
    const older = some.map((name) => `<Object><Key>${name}-older</Key></Object>`).join('')
    const remove = { method: 'POST', path: '/memory', query: { delete: '' }, headers: {} }
    await requestHandler.handle({ ...remove, body: `<Delete>${older}</Delete>` })
  }
}

/** A store that goes away during the second slice. */
const openFailingStore = async (wait: (milliseconds: number) => void) => {
  const { s3, ...bucket } = openBucketInMemory()
  await fillFolder(s3)
  const store = openObjectStore(bucket)
  const world = { isAway: false, batches: 0, listedAfter: [] as unknown[], store }
  s3.before = async (request) => {
    const { query = {} } = request
    if (query['prefix'] === prefix && query['max-keys'] === String(pageSize))
      world.listedAfter.push(query['start-after'])
    if (!isBatch(request)) return
    wait(timeOfPage)
    world.batches += 1
    if (world.batches === 40) world.isAway = true
  }
  const files = aroundCalls(store, async (call) => {
    if (world.isAway) throw new ServiceError('unavailable')
    return call()
  })
  return { files, world }
}

test('100,000 files are listed and removed once, despite two hours without S3 (S-113)', async () => {
  for (const level of ['info', 'warn', 'error'] as const) vi.spyOn(console, level).mockReturnValue()
  let time = Date.UTC(2026, 0, 1)
  const clock = { wall: () => time, monotonic: () => time }
  const { files, world } = await openFailingStore((milliseconds) => {
    time += milliseconds
  })
  const tables = openMemoryTables(clock.wall)
  const entries: HistoryEntry[] = []
  const removals = createFolderRemovals({
    dynamodb: tables.connect(),
    table: tables.names.pathLocks,
    record: async (recorded) => void entries.push(recorded),
    now: clock.wall,
  })
  const sent: Message[] = []
  const removalQueue = {
    async send(_: RemovalTask, delay: number) {
      const name = randomUUID()
      sent.push({ name, delay })
      return name
    },
  }
  const worker = createRemovalWorker({ files, removals, removalQueue, clock })
  const body = JSON.stringify({ ...task, site: String(task.site) })
  const context = { getRemainingTimeInMillis: () => wholeTime } as Context
  const queue = createQueue({
    now: clock.wall,
    wait(until) {
      time = until
    },
    deliver: (messageId) => worker({ Records: [{ body, messageId }] } as SQSEvent, context),
    takeSent: () => sent.splice(0),
  })
  const isOpen = async () => (await removals.locksOf(task.site, [task.path])).open.length > 0

  await removals.open(task.site, task.path, task.id, entry)
  queue.add('message 0')
  await queue.workUntil(time + 120 * minute)
  expect([queue.dead.length, await isOpen(), entries]).toEqual([1, true, []])
  world.isAway = false
  queue.redrive()
  await queue.workUntil(time + 30 * minute)
  expect([queue.dead, await isOpen(), await world.store.exists(prefix)]).toEqual([[], false, false])
  expect(entries).toEqual([{ ...entry, details: { count: pages * pageSize } }])
  expect(world.batches).toBe(pages)
  // Each worker lists up to two pages in advance. Only the first worker reads the folder from its beginning.
  expect(new Set(world.listedAfter).size).toBe(pages)
  expect(world.listedAfter.length).toBeLessThanOrEqual(1.1 * pages)
  expect(world.listedAfter.lastIndexOf(undefined)).toBe(0)
}, 180_000)
