import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { DeleteCommand, GetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, test, vi } from 'vitest'
import { createJournal } from '../../../lib/aws/dynamodb/journal.ts'
import { createWebForms } from '../../../lib/aws/dynamodb/web-forms.ts'
import { openAccessStores } from '../../../lib/aws/open-tables.ts'
import { type HistoryEntry, lostEntry } from '../../../lib/core/history-entry.ts'
import type { SiteId, WebFormId } from '../../../lib/core/ids.ts'
import { createDeadline } from '../../../lib/core/time.ts'
import { meter } from '../../../tools/bench/measure/meter.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { testPerson } from '../../support/people.ts'
import { aroundCommands, failOnce, loseAnswer, watchCalls } from '../../support/store-faults.ts'
import { openTestTables, tableSettings } from '../../support/tables.ts'

const day = 24 * 3600 * 1000

const tables = openMemoryTables()

let lastSite = 0
let site: SiteId
beforeEach(() => {
  lastSite += 1
  site = lastSite as SiteId
})

const entryOf = (subject: string): HistoryEntry => ({
  site,
  type: 'file.stored',
  subject,
  actor: 'ann',
  requestId: '0b8fb6f8-8a0e-4a0c-a1a5-6f0b8e4f8a7c',
})

/** A journal of its own, as each instance of a function has, and the entries that it reported as lost. */
const open = (now?: () => number, dynamodb = tables.connect()) => {
  const lost: string[] = []
  // A busy machine may be slow, but loses nothing.
  const options = { dynamodb, table: tables.names.journal, longestDelay: 600_000, ...(now && { now }) }
  return { ...createJournal({ ...options, lost: ({ subject }) => void lost.push(subject) }), lost, dynamodb }
}
const subjects = async () => (await open().history.after(site, 0, 10_000)).map(({ subject }) => subject)
const blocks = async () => {
  const { Items = [] } = await tables.connect().send(new ScanCommand({ TableName: tables.names.journal }))
  return Items.filter((item) => item['site'] === site && item['block'] !== 0)
}

test.each([
  ['alone', []],
  ['while others fill its block', [...'abcdef']],
])('an entry is stored once if its answer is lost and the call repeated, %s', async (_, names) => {
  const [{ record, dynamodb, lost }, other] = [open(), open()]
  await record(entryOf('before'))
  const count = loseAnswer(dynamodb, 'UpdateItemCommand', async () => {
    for (const name of names) await other.record(entryOf(name))
  })
  await record(entryOf('one'))
  await record(entryOf('two'))
  expect([count.lost, lost, await subjects()]).toEqual([1, [], ['before', 'one', ...names, 'two']])
})

test('entries keep their order when several writers each remember a different block', async () => {
  const writers = [open(), open(), open()]
  const written: string[] = []
  for (let index = 0; index < 40; index++) {
    await writers[index % 3]?.record(entryOf(String(index)))
    written.push(String(index))
  }
  expect(await subjects()).toEqual(written)
  expect((await blocks()).length).toBeGreaterThan(3)
})

test('all entries are listed in order while writers fill blocks between the queries', async () => {
  const writer = open()
  const large = (name: string) => writer.record(entryOf(`${name} ${'x'.repeat(600)}`))
  for (const name of ['1', '2', '3', '4']) await large(name)
  await writer.record(entryOf('5'))
  const { history, dynamodb } = open()
  let queries = 0
  aroundCommands(dynamodb, 'call', async (send) => {
    queries += 1
    if (queries === 2) for (const name of ['6', '7', '8']) await large(name)
    return send()
  })
  const seen: string[] = []
  for (let position = 0, isMore = true; isMore; ) {
    const changes = await history.after(site, position, 10)
    seen.push(...changes.map(({ subject }) => subject.slice(0, 1)))
    isMore = changes.length > 0
    position = changes.at(-1)?.position ?? position
  }
  expect(seen.join('')).toBe('12345678')
})

test('a list ends at a block that was not full, so that no entry is missed', async () => {
  const writer = open()
  for (const name of ['1', '2', '3', '4', '5', '6', '7', '8']) await writer.record(entryOf(name))
  const { history, dynamodb } = open()
  let isEarly = true
  // Returns the first block as it was when it had only two entries.
  aroundCommands(dynamodb, 'call', async (send) => {
    const result = await send()
    const [first] = (result.output as { Items?: Record<string, unknown>[] }).Items ?? []
    if (isEarly && first) {
      const entries = (first['entries'] as unknown[]).slice(-2)
      Object.assign(first, { entries, count: 101, bytes: 200 })
    }
    isEarly = false
    return result
  })
  const early = await history.after(site, 0, 100)
  expect(early.map(({ subject }) => subject)).toEqual(['1', '2'])
  const rest = await history.after(site, early.at(-1)?.position ?? 0, 100)
  expect(rest.map(({ subject }) => subject)).toEqual(['3', '4', '5', '6', '7', '8'])
})

test('the history begins with one block, even if several writers begin at once', async () => {
  const now = Date.now()
  await Promise.all(['a', 'b', 'c', 'd'].map((name, index) => open(() => now + index).record(entryOf(name))))
  expect((await subjects()).toSorted()).toEqual(['a', 'b', 'c', 'd'])
  const { Item } = await tables
    .connect()
    .send(new GetCommand({ TableName: tables.names.journal, Key: { site, block: 0 } }))
  expect(Math.min(...(await blocks()).map((item) => item['block']))).toBe(Item?.['next'])
})

test('a writer uses the missing block that another has named within a day', async () => {
  const next = Date.now() - day + 60_000
  await tables.connect().send(new PutCommand({ TableName: tables.names.journal, Item: { site, block: 0, next } }))
  await open().record(entryOf('one'))
  expect(await blocks()).toMatchObject([{ block: next }])
})

test('positions continue after the last entry, even after all entries have expired', async () => {
  const first = open()
  await first.record(entryOf('long ago'))
  const [old] = await first.history.after(site, 0, 10)
  const dynamodb = tables.connect()
  for (const { block } of await blocks()) {
    await dynamodb.send(new DeleteCommand({ TableName: tables.names.journal, Key: { site, block } }))
  }
  const later = () => Date.now() + 100 * day
  await Promise.all([open(later).record(entryOf('anew')), open(later).record(entryOf('and again'))])
  const changes = await open().history.after(site, old?.position ?? 0, 10)
  expect(changes.map(({ subject }) => subject).toSorted()).toEqual(['and again', 'anew'])
})

test('a block expires 90 days after its last entry (H-8)', async () => {
  const now = Date.UTC(2026, 10, 22)
  const { record } = open(() => now)
  await record(entryOf('one'))
  expect(await blocks()).toMatchObject([{ expires: (now + 90 * day) / 1000 }])
})

test('readers get no entry that is older than 90 days, even if its block stays (H-8)', async () => {
  const now = Date.now()
  await open(() => now - 90 * day - 1).record(entryOf('old'))
  await open(() => now - 90 * day).record(entryOf('kept'))
  expect(await blocks()).toHaveLength(1)
  const { history } = open(() => now)
  const read = [await history.after(site, 0, 10), await history.before(site, undefined, 10)]
  expect(read).toMatchObject([[{ subject: 'kept' }], [{ subject: 'kept' }]])
})

test('an entry of a single writer costs one write of one unit', async ({ onTestFinished }) => {
  // Only the tables of dynalite count capacity.
  const { connect, close } = await openTestTables()
  onTestFinished(close)
  const { record, dynamodb } = open(undefined, connect())
  await record(entryOf('first'))
  const consumed = meter(dynamodb)
  for (let index = 0; index < 30; index++) await record(entryOf(`images/2026/november/${index}.png`))
  expect(consumed()).toEqual({ reads: 0, readUnits: 0, writes: 30, writeUnits: 30 })
})

/**
 * Many journals that write at once, and the calls that they make. Their clock does not advance, because a writer that
 * is slow for a second would look like a single writer.
 */
const openMany = (count: number) => {
  const now = Date.now()
  const writers = Array.from({ length: count }, () => open(() => now))
  const calls = writers.map(({ dynamodb }) => watchCalls(dynamodb))
  return {
    async write(rounds: readonly number[]) {
      const writeOn = async (record: (entry: HistoryEntry) => Promise<void>, index: number) => {
        for (const round of rounds) await record(entryOf(`${index} in round ${round}`))
      }
      await Promise.all(writers.map(({ record }, index) => writeOn(record, index)))
    },
    count: () => calls.reduce((sum, made) => sum + made.length, 0),
    lost: () => writers.flatMap(({ lost }) => lost),
  }
}
const inRounds = (count: number, rounds: readonly number[]) =>
  rounds.flatMap((round) => Array.from({ length: count }, (_, index) => `${index} in round ${round}`)).toSorted()

test.each([
  [1, 1],
  [2, 1.6],
  [64, 2.5],
  [200, 4],
])('%d concurrent writers lose no entry, with at most %d calls each', { timeout: 120_000 }, async (count, most) => {
  const writers = openMany(count)
  await writers.write([0])
  const before = writers.count()
  await writers.write([1, 2])
  expect((writers.count() - before) / (2 * count)).toBeLessThanOrEqual(most)
  expect(writers.lost()).toEqual([])
  expect((await subjects()).toSorted()).toEqual(inRounds(count, [0, 1, 2]))
})

test('when only one writer is left, writing a block costs one unit again', async () => {
  await openMany(64).write([1, 2])
  const { record } = open()
  for (let index = 0; index < 20; index++) await record(entryOf(`alone ${index}`))
  const sizes = (await blocks())
    .toSorted((one, other) => one['block'] - other['block'])
    .map(({ entries }) => entries.length)
  expect(Math.max(...sizes)).toBeGreaterThan(10)
  expect(sizes.slice(-3).every((size) => size <= 6)).toBe(true)
})

test('new entries follow those of an earlier version, in full or part blocks', async () => {
  const earlier = (subject: string) => {
    const { at, type, actor, requestId } = { ...entryOf(subject), at: new Date().toISOString() }
    return { at, type, subject, actor, requestId: requestId ?? '', details: '{}' }
  }
  const put = (block: number, names: readonly string[], more: object) =>
    tables.connect().send(
      new PutCommand({
        TableName: tables.names.journal,
        Item: { site, block, count: 99 + names.length, entries: names.map(earlier).toReversed(), ...more },
      }),
    )
  const dynamodb = tables.connect()
  await dynamodb.send(new PutCommand({ TableName: tables.names.journal, Item: { site, block: 0, next: 1_000 } }))
  await put(1_000, ['a', 'b', 'c', 'd', 'e'], { bytes: 520, next: 2_000 })
  await put(2_000, ['f'], { bytes: 104, next: 3_000 })
  expect(await subjects()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  const writer = open()
  const names = Array.from({ length: 12 }, (_, index) => `new ${index}`)
  for (const name of names) await writer.record(entryOf(name))
  expect(await subjects()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', ...names])
  expect((await blocks()).length).toBeGreaterThan(3)
})

test('many entries that one process writes together are each written once', async () => {
  const { record, dynamodb } = open()
  await record(entryOf('first'))
  const calls = watchCalls(dynamodb)
  const names = Array.from({ length: 40 }, (_, index) => `file ${index}`)
  await Promise.all(names.map((name) => record(entryOf(name))))
  expect(calls).toHaveLength(40)
  expect(await subjects()).toEqual(['first', ...names])
})

test.each(['throttled', 'timed out', 'failing with 500'] as const)(
  'if writes to the history are %s, a change succeeds and reports it',
  async (failure) => {
    const { record, dynamodb, lost } = open()
    const webForms = createWebForms({ dynamodb, table: tables.names.webForms, record })
    const form = { site, id: 1 as WebFormId, name: 'Form', fields: [] }
    failOnce(dynamodb, { call: 1, failure })
    expect(await webForms.create(form, entryOf('form/1'))).toBe(true)
    expect(lost).toEqual(['form/1'])
    expect(await webForms.get(site, form.id)).toEqual(form)
    await webForms.rename(site, form.id, 'Other', entryOf('form/1 anew'))
    expect(await subjects()).toEqual(['form/1 anew'])
  },
)

test('the log reports a lost entry in the words that the alarm counts', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const dynamodb = tables.connect()
  failOnce(dynamodb, { call: 0, failure: 'throttled' })
  await createJournal({ dynamodb, table: tables.names.journal }).record(entryOf('one'))
  expect(String(error.mock.lastCall?.[0])).toContain(lostEntry)
  expect(String(error.mock.lastCall?.[0])).toContain(JSON.stringify(entryOf('one')))
})

test('an entry is lost if a block refuses each of its attempts', async () => {
  const { record, dynamodb, lost } = open()
  await open().record(entryOf('before'))
  const refusal = new ConditionalCheckFailedException({ message: 'full', $metadata: { attempts: 1 } })
  aroundCommands(dynamodb, 'call', async (send, { name }) => {
    if (name === 'UpdateItemCommand') throw refusal
    return send()
  })
  await record(entryOf('one'))
  expect({ lost, subjects: await subjects() }).toEqual({ lost: ['one'], subjects: ['before'] })
})

test('an entry about a person is written even if its site cannot be read', async () => {
  const dynamodb = tables.connect()
  const { people } = openAccessStores({ ...tableSettings(tables.names), dataCentre: 'us' }, { dynamodb })
  failOnce(dynamodb, { call: 1, failure: 'throttled' })
  expect(await people.create(testPerson(), [entryOf('user/ann')])).toBe(true)
  expect(await subjects()).toEqual(['user/ann'])
})

test('an entry is not written after the time of the request is over', async () => {
  const { record, dynamodb, lost } = open()
  const calls = watchCalls(dynamodb)
  await record(
    entryOf('late'),
    createDeadline(() => 400),
  )
  expect({ lost, subjects: await subjects() }).toEqual({ lost: ['late'], subjects: [] })
  expect(calls.length).toBeLessThan(2)
})
