import { beforeEach, expect, it, vi } from 'vitest'
import { createDeadline, unlimited } from '../../../lib/core/time.ts'
import { continueRemoval } from '../../../lib/storage/continue-removal.ts'
import { longestSilence } from '../../../lib/storage/path-locks.ts'
import { statusAndCode } from '../../support/answer.ts'
import { entry } from '../../support/history.ts'
import { recorded } from '../../support/objects.ts'
import { fillFolder, openStorage, type StorageUnderTest } from './service.ts'

/** In milliseconds. A request reserves more time for its answer, so its removal stops at once. */
const noTime = 1_000

const longestWork = 90_000

let storage: StorageUnderTest
let time = 0
beforeEach(async () => {
  storage = await openStorage({ clock: { wall: () => time, monotonic: () => time } })
  await fillFolder(storage, '/large', 2_100)
})

const put = (path: string) => storage.put(path, 'x')
const metaOf = (path: string) => storage.get(path, { meta: '' })
/** The message with this number, counted from 0. */
const message = (number = 0) => {
  const sent = storage.sent[number]
  if (!sent) throw new Error('The queue does not have this message')
  return sent
}
const finish = (number = 0) => continueRemoval(storage.deps, message(number), unlimited, longestWork)

it('A removal without time answers 202, and the queue ends it (S-95, S-102, S-103)', async () => {
  const { status, text } = await storage.remove('/large', { remaining: noTime })
  expect({ status, text }).toEqual({ status: 202, text: '{"status":"deleting"}' })
  for (const refused of [put('/large/new'), storage.post('/large', [{ name: 'new' }]), storage.remove('/large/0')])
    expect(statusAndCode(await refused)).toEqual([400, 104010])
  expect(await finish()).toBeUndefined()
  expect((await metaOf('/large')).status).toBe(404)
  expect(storage.leftovers()).toBe(0)
})

it('Repeated removals send one delayed message, before the removal is recorded', async () => {
  const { removals } = storage.deps
  const { open } = removals
  // The request may die between the message and the record.
  vi.spyOn(removals, 'open').mockImplementation((...given) => {
    expect(storage.sent).toHaveLength(1)
    return open(...given)
  })
  for (let repetition = 0; repetition < 3; repetition++) {
    expect((await storage.remove('/large', { remaining: noTime })).status).toBe(202)
  }
  expect(storage.sent.map(({ delay }) => delay)).toEqual([30])
})

it('A removal sends a new message if its first message has no effect for a long time', async () => {
  await storage.remove('/large', { remaining: noTime })
  time += longestSilence
  expect((await storage.remove('/large', { remaining: noTime })).status).toBe(202)
  expect(storage.sent.map(({ task }) => task)).toEqual([message().task, message().task])
  expect(message(1).delay).toBe(30)
  expect(await finish(1)).toBeUndefined()
  expect((await put('/large/new')).status).toBe(200)
  // The first message was only late.
  expect(await finish()).toBeUndefined()
  expect((await storage.get('/large/new')).status).toBe(200)
})

it('A request holds a removal until its own end, and for at most 30 seconds (S-103)', async () => {
  const take = vi.spyOn(storage.deps.removals, 'take')
  await fillFolder(storage, '/more', 2_100)
  await storage.remove('/large', { remaining: 29_000 })
  await storage.remove('/more')
  expect(take.mock.calls.map(([, , duration]) => duration)).toEqual([29_000, 30_000])
})

it('A removal runs in slices, with one message for each slice', async () => {
  await fillFolder(storage, '/huge', 3_000)
  await storage.remove('/huge', { remaining: noTime })
  const over = createDeadline(() => 0)
  const slice = () => continueRemoval(storage.deps, message(), over, longestWork)
  expect([await slice(), await slice(), await slice()]).toEqual([{ delay: 0 }, { delay: 0 }, undefined])
  expect((await metaOf('/huge')).status).toBe(404)
})

it.each([
  ['wall', 'monotonic'],
  ['monotonic', 'wall'],
])('A worker that was frozen too long by the %s clock removes nothing (S-103)', async (_, stopped) => {
  await storage.remove('/large', { remaining: noTime })
  const left = await storage.keys()
  const { files, clock: running } = storage.deps
  const list: typeof files.list = async (query) => {
    time += longestWork
    return files.list(query)
  }
  const clock = { ...running, [stopped]: () => 0 }
  const deps = { ...storage.deps, clock, files: { ...files, list } }
  const frozen = continueRemoval(deps, message(), unlimited, longestWork)
  await expect(frozen).rejects.toMatchObject({ code: 100503 })
  expect(await storage.keys()).toEqual(left)
})

it('A removal that is complete needs no further call', async () => {
  await storage.remove('/large', { remaining: noTime })
  const giveBack = vi.spyOn(storage.deps.removals, 'giveBack')
  expect(await finish()).toBeUndefined()
  expect(giveBack).not.toHaveBeenCalled()
})

it('A removal resumes with the page that failed, and misses no late file (S-103)', async () => {
  const keys = await fillFolder(storage, '/huge', 3_000)
  await storage.remove('/huge', { remaining: noTime })
  const left = (await storage.keys()).filter((key) => keys.includes(key))
  const { files, removals } = storage.deps
  const { remove } = files
  const { take, giveBack } = removals
  let reached: string | undefined
  const second = Promise.withResolvers<void>()
  const removing = vi.spyOn(files, 'remove')
  // The first page fails after the second one was removed. In the next attempt, the second page fails.
  removing.mockImplementation(async (...given) => {
    const call = removing.mock.calls.length
    if (call === 1) await second.promise
    if (call === 1 || call === 4) throw new Error('died')
    const bytes = await remove(...given)
    if (call === 2) second.resolve()
    return bytes
  })
  vi.spyOn(removals, 'take').mockImplementation(async (...given) => ({ ...(await take(...given)), after: reached }))
  vi.spyOn(removals, 'giveBack').mockImplementation((task, holder, removed, after) => {
    reached = after
    return giveBack(task, holder, removed, after)
  })
  await expect(finish()).rejects.toThrow('died')
  expect(reached).toBeUndefined()
  await expect(finish()).rejects.toThrow('died')
  expect(reached).toBe(left[999])
  // Stores a file after this key, as if its upload had checked for removals before the removal began.
  const change = { kind: 'folder', key: `${keys[0]}0late/` } as const
  await recorded(files.place([change], { absent: [], unlocked: { site: storage.site, folders: [] } }, entry))
  expect(await finish()).toBeUndefined()
  expect((await metaOf('/huge')).status).toBe(404)
  expect(storage.leftovers()).toBe(0)
})
