import type { Context, SQSEvent } from 'aws-lambda'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createFolderRemovals } from '../../../lib/aws/dynamodb/folder-removals.ts'
import type { RecordChange } from '../../../lib/aws/dynamodb/journal.ts'
import { createRemovalWorker } from '../../../lib/aws/lambda/removal-worker.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { HistoryEntry } from '../../../lib/core/history-entry.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { ObjectStore, RemovalTask } from '../../../lib/storage/object-store.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { createGate } from '../../support/gate.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import type { TestTables } from '../../support/tables.ts'
import { createQueue, type Message, wholeTime } from './removal-queue.ts'

const task: RemovalTask = { site: 1001 as SiteId, path: toStoragePath('large'), id: 'removal' }

let tables: TestTables
let time: number
/** The messages in the queue. The tests deliver them in any order, and repeatedly. */
let sent: Message[]
/** The number of objects that are left in the folder. Each call of `remove` removes one. */
let left: number

beforeEach(async () => {
  tables = openMemoryTables(() => time)
  time = Date.UTC(2026, 0, 1)
  sent = []
  left = 0
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
})

/** A store with only these objects. It calls `remove` before each removal. The first removals find `replaced` objects. */
const files = (remove = async () => {}, replaced = 0): ObjectStore => {
  let stillReplaced = replaced
  const list = async ({ prefix }: { readonly prefix: string }) => ({
    objects:
      prefix.startsWith('live/') && left > 0
        ? [{ key: `${prefix}a`, size: 1, modified: 0, version: '1', fingerprint: null }]
        : [],
    folders: [],
    next: undefined,
  })
  return {
    list,
    exists: async (prefix) => (await list({ prefix })).objects.length > 0,
    async remove(objects) {
      await remove()
      const spared = new Set(stillReplaced-- > 0 ? objects.map(({ key }) => key) : [])
      left -= objects.length - spared.size
      return { bytes: objects.length - spared.size, spared }
    },
  } satisfies Partial<ObjectStore> as unknown as ObjectStore
}

/** A separate function with its own connections. */
const start = (remove?: () => Promise<void>, record: RecordChange = unrecorded, replaced = 0) => {
  const clock = { wall: () => time, monotonic: () => time }
  const { pathLocks: table } = tables.names
  const removals = createFolderRemovals({ dynamodb: tables.connect(), table, record, now: clock.wall })
  const removalQueue = {
    async send(again: RemovalTask, delay: number) {
      expect(again).toEqual(task)
      const name = `message ${sent.length + 2}`
      sent.push({ name, delay })
      return name
    },
  }
  const worker = createRemovalWorker({ files: files(remove, replaced), removals, removalQueue, clock })
  const taskText = JSON.stringify({ ...task, site: String(task.site) })
  const deliver = async (messageId = 'message 1', remaining = wholeTime, body = taskText) => {
    const event = { Records: [{ body, messageId }] } as SQSEvent
    await worker(event, { functionName: 'removals', getRemainingTimeInMillis: () => remaining } as Context)
  }
  return { removals, deliver }
}

const open = async (objects: number) => {
  left = objects
  const { removals } = start()
  await removals.open(task.site, task.path, task.id, entry)
  return async () => (await removals.locksOf(task.site, [task.path])).open.length > 0
}

test('a worker empties the folder, and late and repeated messages change nothing', async () => {
  const isOpen = await open(3)
  await start().deliver()
  expect([left, await isOpen(), sent]).toEqual([0, false, []])
  left = 1
  await start().deliver()
  await start().deliver('message of another day')
  expect([left, sent]).toEqual([1, []])
})

test('a removal counts a file once that was replaced meanwhile (H-1)', async () => {
  await open(1)
  const entries: HistoryEntry[] = []
  await start(undefined, async (recorded) => void entries.push(recorded), 1).deliver()
  expect(entries).toMatchObject([{ details: { count: 1 } }])
})

test('a worker that runs out of time sends one message to continue the removal', async () => {
  const isOpen = await open(3)
  const short = 30_000
  await start().deliver('message 1', short)
  expect([left, sent]).toEqual([2, [{ name: 'message 2', delay: 0 }]])
  await start().deliver('message 2', short)
  await start().deliver('message 3', short)
  expect([left, await isOpen(), sent.length]).toEqual([0, false, 2])
})

test('a worker does not continue a removal that another worker is running', async () => {
  const isOpen = await open(2)
  const { pass, reached, open: goOn } = createGate()
  const first = start(pass).deliver()
  await reached
  await start(() => Promise.reject(new Error('two at once'))).deliver('message of a second chain')
  expect(sent).toEqual([])
  goOn()
  await first
  expect([left, await isOpen(), sent]).toEqual([0, false, []])
})

test('a second copy of a message is postponed until the other worker has ended', async () => {
  await open(2)
  const { pass, reached, open: goOn } = createGate()
  const first = start(pass).deliver()
  await reached
  time += 40_500
  await start(() => Promise.reject(new Error('two at once'))).deliver()
  expect(sent).toEqual([{ name: 'message 2', delay: 50 }])
  goOn()
  await first
  await start(() => Promise.reject(new Error('It is done'))).deliver('message 2')
  expect([left, sent.length]).toEqual([0, 1])
})

test('while the store is unavailable, the message waits until the lease has ended', async () => {
  const printed = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const isOpen = await open(1)
  await start(() => Promise.reject(new ServiceError('unavailable'))).deliver()
  expect([sent, await isOpen(), printed.mock.calls.length]).toEqual([[{ name: 'message 2', delay: 90 }], true, 1])
  time += 90_000
  await start().deliver('message 2')
  expect([left, await isOpen()]).toEqual([0, false])
})

test('after a permanent error, the next delivery of the message ends the removal', async () => {
  const printed = vi.spyOn(console, 'error').mockReturnValue()
  const isOpen = await open(1)
  await expect(start(() => Promise.reject(new Error('a bug'))).deliver()).rejects.toThrow('a bug')
  expect([sent, await isOpen()]).toEqual([[], true])
  expect(printed.mock.lastCall?.[0]).toContain('the folder large of site 1001')
  await start().deliver()
  expect([left, await isOpen()]).toEqual([0, false])
})

test('a message that the service did not send causes an error', async () => {
  await expect(start().deliver('message 1', wholeTime, 'no removal')).rejects.toThrow()
})

describe('a removal whose store is unavailable for two hours', () => {
  const minute = 60_000
  let isAway: boolean
  let entries: HistoryEntry[]
  let begun: number
  let queue: ReturnType<typeof createQueue>
  let isOpen: () => Promise<boolean>

  beforeEach(async () => {
    vi.spyOn(console, 'warn').mockReturnValue()
    vi.spyOn(console, 'error').mockReturnValue()
    isAway = true
    entries = []
    begun = time
    isOpen = await open(3)
    const remove = async () => {
      if (isAway) throw new ServiceError('unavailable')
    }
    const { deliver } = start(remove, async (recorded) => void entries.push(recorded))
    queue = createQueue({
      deliver,
      takeSent: () => sent.splice(0),
      now: () => time,
      wait(until) {
        time = until
      },
    })
    queue.add('message 1')
  })

  test('after an hour, the message is a dead letter, and the record stays (S-113)', async () => {
    await queue.workUntil(begun + 59 * minute)
    expect(queue.dead).toEqual([])
    await queue.workUntil(begun + 61 * minute)
    expect([queue.dead.length, await isOpen(), left]).toEqual([1, true, 3])
    expect(vi.mocked(console.error).mock.lastCall?.[0]).toContain('the folder large of site 1001')
    const attempts = queue.deliveries()
    // Every 90 seconds for a quarter of an hour, then every nine minutes.
    expect(attempts).toBe(10 + 5)
    await queue.workUntil(begun + 120 * minute)
    expect([queue.deliveries(), await isOpen()]).toEqual([attempts, true])
  })

  test('a message that is moved back ends the removal, with one entry (S-113)', async () => {
    isAway = false
    await start().deliver('message 0', 30_000)
    sent = []
    isAway = true
    await queue.workUntil(begun + 120 * minute)
    expect(left).toBe(2)
    isAway = false
    queue.redrive()
    await queue.workUntil(time + minute)
    expect([queue.dead, await isOpen(), left]).toEqual([[], false, 0])
    expect(entries).toEqual([{ ...entry, details: { count: 3 } }])
  })

  test('after each step of progress, the removal is tried for another hour', async () => {
    for (const hour of [0, 1, 2]) {
      await queue.workUntil(begun + hour * 55 * minute + 50 * minute)
      expect(queue.dead).toEqual([])
      isAway = false
      await queue.workUntil(time + 9 * minute)
      isAway = left > 0
    }
    expect([await isOpen(), left]).toEqual([false, 0])
  })

  test('a removal that has been open for two hours logs its age at every log level', async () => {
    const lastLine = () => JSON.parse(String(vi.mocked(process.stdout.write).mock.lastCall?.[0]))
    const name = 'site_admin_oldest_removal_age_seconds'
    const CloudWatchMetrics = [{ Dimensions: [['FunctionName']], Metrics: [{ Name: name, Unit: 'Seconds' }] }]
    const members = { message: 'A removal is open', FunctionName: 'removals', site: 1001, path: 'large', attempts: 0 }
    await start().deliver('message 0', 30_000)
    expect(lastLine()).toMatchObject({ ...members, level: 'INFO', [name]: 0, _aws: { CloudWatchMetrics } })
    time += 2 * 60 * minute
    await start().deliver('message 1', 30_000)
    expect(lastLine()).toMatchObject({ ...members, level: 'ERROR', [name]: 7200 })
  })
})
