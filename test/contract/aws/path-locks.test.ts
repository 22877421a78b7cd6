import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, test } from 'vitest'
import { createFolderRemovals, type ObservedRemovals } from '../../../lib/aws/dynamodb/folder-removals.ts'
import type { HistoryEntry } from '../../../lib/core/history-entry.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { createDeadline } from '../../../lib/core/time.ts'
import { root, toStoragePath } from '../../../lib/storage/path.ts'
import { longestSilence } from '../../../lib/storage/path-locks.ts'
import { entry } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { failOnce, loseAnswer, loseFirstAnswers } from '../../support/store-faults.ts'

let time = Date.UTC(2026, 0, 1)
const tables = openMemoryTables(() => time)
let removals: ObservedRemovals
let dynamodb: DynamoDBDocumentClient
const recorded: HistoryEntry[] = []

let lastSite = 0
let site: SiteId
beforeEach(() => {
  recorded.length = 0
  lastSite += 1
  site = lastSite as SiteId
  const { pathLocks: table } = tables.names
  dynamodb = tables.connect()
  const record = async (one: HistoryEntry) => void recorded.push(one)
  removals = createFolderRemovals({ dynamodb, table, record, now: () => time })
})
const minute = 60_000
const folder = toStoragePath('photos/2026')

test('a folder has one lock at a time, which only the holder of the lock can release', async () => {
  expect(await removals.lock(site, folder, 'mine', 60_000)).toBe(true)
  expect(await removals.lock(site, folder, 'other', 60_000)).toBe(false)
  await removals.unlock(site, folder, 'other')
  expect(await removals.lock(site, folder, 'other', 60_000)).toBe(false)
  await removals.unlock(site, folder, 'mine')
  expect((await removals.locksOf(site, [folder])).open).toEqual([])
  expect(await removals.lock(site, folder, 'other', 60_000)).toBe(true)
})

test('a lock whose answer is lost belongs to its caller', async () => {
  loseAnswer(dynamodb, 'PutItemCommand')
  expect(await removals.lock(site, folder, 'mine', 60_000)).toBe(true)
})

test('a lock ends after its time if its holder has died', async () => {
  await removals.lock(site, folder, 'mine', 60_000)
  time += 60_000
  expect((await removals.locksOf(site, [folder])).open).toEqual([])
  expect(await removals.isOpenBelow(site, root)).toBe(false)
  expect(await removals.open(site, folder, 'removal', entry)).toBe('removal')
})

test('a locked folder cannot be removed (104010), a vanishing one not locked', async () => {
  await removals.lock(site, folder, 'mine', 60_000)
  await expect(removals.open(site, folder, 'removal', entry)).rejects.toMatchObject({ code: 104010 })
  await removals.unlock(site, folder, 'mine')
  await removals.open(site, folder, 'removal', entry)
  expect(await removals.lock(site, folder, 'mine', 60_000)).toBe(false)
})

test('after lost answers and a repeated call, a removal has one entry (H-6)', async () => {
  const task = { site, path: folder, id: 'removal' }
  await removals.open(site, folder, task.id, entry)
  await removals.take(task, 'worker', minute)
  loseFirstAnswers(dynamodb)
  await removals.giveBack(task, 'worker', 3)
  for (const removed of [2, 0]) await removals.close(site, folder, task.id, removed)
  expect(recorded).toMatchObject([{ details: { count: 5 } }])
  expect(await removals.lastOf(site, [folder])).toHaveLength(1)
})

const day = 24 * 3600_000
const begin = (timeLeft = minute, since = time) =>
  removals.begin(
    { site, folder, since },
    createDeadline(() => timeLeft),
  )
/** A request that begins now and ends in a minute. */
const remove = async () => {
  const begun = await begin()
  time += minute
  await removals.note(begun)
  return { from: begun.since, to: time }
}
const periods = () => removals.lastOf(site, [folder])

test('the record of a removal without a time limit covers a limited time', async () => {
  await begin(Number.POSITIVE_INFINITY)
  expect(await periods()).toEqual([{ from: time, to: time + longestSilence }])
})

test('the record leaves out a removal that failed more than a day ago', async () => {
  await begin()
  time += day + 2 * minute
  expect(await remove()).toEqual({ from: time - minute, to: time })
  expect(await periods()).toEqual([{ from: time - minute, to: time }])
})

test('two concurrent removals share one record, whichever begins or ends first', async () => {
  const from = time
  const listed = time + 1_000
  const one = await begin()
  time += 2_000
  const other = await begin(minute, listed)
  time += 1_000
  await removals.note(one)
  time += 1_000
  await removals.note(other)
  expect(await periods()).toEqual([{ from, to: time }])
  // A third removal listed the folder before the other two removals ended.
  await removals.note(await begin(minute, listed))
  expect(await periods()).toEqual([{ from, to: time }])
})

test.each([0, 1])('after a lost answer and a repeated call, the removal has one record', async (repeated) => {
  const from = time
  for (let count = 0; count < repeated; count++) await begin()
  time += 1_000
  loseAnswer(dynamodb, 'UpdateItemCommand')
  expect((await begin()).since).toBe(repeated ? from : time)
})

test('the record ends with the removal, even if one of the last calls fails', async () => {
  for (const afterwards of [false, true]) {
    for (let call = 0; call < 4; call++) {
      lastSite += 1
      site = lastSite as SiteId
      const began = time
      await removals.open(site, folder, 'removal', entry)
      time += minute
      const failing = tables.connect()
      const record = async () => {}
      const worker = createFolderRemovals({ dynamodb: failing, table: tables.names.pathLocks, record, now: () => time })
      failOnce(failing, { call, failure: 'timed out', afterwards })
      await worker.close(site, folder, 'removal', 1).catch(() => {})
      time += minute
      await removals.close(site, folder, 'removal', 1)
      expect((await removals.locksOf(site, [folder])).open).toEqual([])
      const [last] = await periods()
      expect(last?.from).toBe(began)
      expect([began + minute, time]).toContain(last?.to)
    }
  }
})
