import { expect, it } from 'vitest'
import { createProgressReports, type UploadProgress } from '../../../lib/storage/upload-progress.ts'

/** An upload whose clock the test sets, and the times when it wrote progress. */
const running = (total: number | undefined, isFailing = false) => {
  let now = 0
  const writes: { at: number; percent: number }[] = []
  const record = async (percent: number) => {
    writes.push({ at: now, percent })
    if (isFailing) throw new Error('The table is away')
  }
  const store: UploadProgress = {
    begin: (_, percent) => record(percent),
    report: (_, percent) => record(percent),
    percentOf: async () => 0,
  }
  const progress = createProgressReports(store, () => now)({ token: 'hash', total })
  /** Resolves when all pending writes have ended. */
  const settle = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }
  return {
    progress,
    writes,
    async receive(bytes: number, milliseconds: number) {
      now += milliseconds
      progress.advance(bytes)
      await settle()
    },
    settle,
  }
}

it('progress is written at most four times in a second (S-90)', async () => {
  const { progress, writes, receive, settle } = running(10_000)
  await settle()
  for (let chunk = 0; chunk < 1_000; chunk++) await receive(10, 5)
  await progress.follow(Promise.resolve())
  for (const { at } of writes) {
    expect(writes.filter((write) => write.at >= at && write.at < at + 1_000).length).toBeLessThanOrEqual(4)
  }
  expect(writes.length).toBeGreaterThan(10)
})

it('progress never falls, and is 100 only at the end (S-86)', async () => {
  const { progress, writes, receive, settle } = running(1_000)
  await settle()
  for (const bytes of [100, 400, 499, 1]) await receive(bytes, 400)
  expect(writes.map(({ percent }) => percent)).toEqual([50, 99])
  await progress.follow(Promise.resolve())
  expect(writes.at(-1)?.percent).toBe(100)
})

it('after a slow write, only the newest progress is written', async () => {
  let now = 0
  const percents: number[] = []
  const slow = Promise.withResolvers<void>()
  const store: UploadProgress = {
    begin: (_, percent) => {
      percents.push(percent)
      return slow.promise
    },
    report: async (_, percent) => void percents.push(percent),
    percentOf: async () => 0,
  }
  const progress = createProgressReports(store, () => now)({ token: 'hash', total: 1_000 })
  for (now of [500, 1_000, 1_500]) progress.advance(100)
  slow.resolve()
  await new Promise(setImmediate)
  expect(percents).toEqual([10, 30])
})

it('if the length is unknown, progress is 0 until the end (S-88)', async () => {
  const { progress, writes, receive, settle } = running(undefined)
  await settle()
  for (let chunk = 0; chunk < 10; chunk++) await receive(1_000, 500)
  expect(writes).toEqual([{ at: 500, percent: 0 }])
  await progress.follow(Promise.resolve())
  expect(writes.at(-1)?.percent).toBe(100)
})

it('an upload of less than 500 ms writes its progress once (S-90)', async () => {
  const { progress, writes, receive } = running(1_000)
  await receive(1_000, 499)
  const placing = (async () => {
    await progress.complete()
    expect(writes).toEqual([{ at: 499, percent: 100 }])
  })()
  await progress.follow(placing)
  expect(writes).toHaveLength(1)
})

it('a failed upload keeps its progress, and an early failure writes none (S-90)', async () => {
  const { progress, writes, receive, settle } = running(1_000)
  await settle()
  await receive(300, 600)
  await expect(progress.follow(Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(writes.at(-1)?.percent).toBe(30)
  const early = running(1_000)
  await early.receive(1_000, 499)
  await expect(early.progress.follow(Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(early.writes).toEqual([])
})

/** Two uploads of one token. The second starts later. `shown` is the progress that the token sees. */
const inTurns = () => {
  let now = 0
  const shown = { id: '', percent: 0 }
  const store: UploadProgress = {
    begin: async ({ id }, percent) => void Object.assign(shown, shown.id !== id && { id, percent }),
    report: async ({ id }, percent) => void Object.assign(shown, shown.id === id && { percent }),
    percentOf: async () => shown.percent,
  }
  const start = createProgressReports(store, () => now)
  const [older, newer] = (['older', 'newer'] as const).map((id) => start({ token: 'hash', id, total: 1_000 }))
  const receive = async (upload: typeof older, bytes: number, at: number) => {
    now = at
    upload?.advance(bytes)
    await new Promise(setImmediate)
  }
  return { older, newer, receive, shown }
}

it('an older upload stays silent once a newer one reports (S-89)', async () => {
  const { older, newer, receive, shown } = inTurns()
  await receive(older, 0, 0)
  await receive(newer, 400, 600)
  await receive(older, 100, 700)
  await older?.follow(Promise.resolve())
  expect(shown).toEqual({ id: 'newer', percent: 40 })
})

it('an upload reports even if a newer one ended before its first report (S-86)', async () => {
  const { older, newer, receive, shown } = inTurns()
  await receive(older, 0, 0)
  await receive(newer, 0, 100)
  await expect(newer?.follow(Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  await receive(older, 300, 700)
  expect(shown).toEqual({ id: 'older', percent: 30 })
})

it('a failed write of the progress does not fail the upload', async () => {
  const { progress, receive, settle } = running(1_000, true)
  await settle()
  await receive(300, 400)
  await expect(progress.follow(Promise.resolve())).resolves.toBeUndefined()
})
