import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../lib/core/clock.ts'
import { parsePath } from '../../../lib/storage/path.ts'
import { countFolder } from '../../../lib/storage/reading/preview-removal.ts'
import { statusAndCode } from '../../support/answer.ts'
import { entry } from '../../support/history.ts'
import { storageHands } from './hands.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

// The acceptance cases test the results of a restore. The cases here need to control the clock or a lock.

let storage: StorageUnderTest
afterEach(async () => {
  vi.useRealTimers()
  await storage.close()
})

const put = async (path: string) => {
  expect((await storage.put(path)).status).toBe(200)
}

describe.each(storageHands)('The time of a removal on $name', ({ name: hand, open }) => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) })
    storage = await open({ clock: { ...systemClock, wall: Date.now } })
  })

  const later = (pause = 10_000) => vi.setSystemTime(Date.now() + pause)
  const restored = async (path: string) => {
    expect(statusAndCode(await storage.restore(path))).toEqual([200, undefined])
  }

  // S3 has whole seconds, so removals in one second cannot be distinguished.
  const allInOneSecond = hand === 'AWS' ? ['first', 'second', 'third'] : ['third']
  it.each([
    ['restores only the entries of the last removal', 5_000, ['third']],
    ['may restore entries that were removed in the same second', 10, allInOneSecond],
  ])('A restore %s (H-21, H-23)', async (_, pause, expected) => {
    await put('/folder/first')
    later(pause)
    await storage.remove('/folder')
    later(pause)
    for (const name of ['second', 'third']) await put(`/folder/${name}`)
    later(pause)
    await storage.remove('/folder/second')
    later(pause)
    await storage.remove('/folder')
    later(pause)
    await restored('/folder')
    const names = ['first', 'second', 'third']
    const found = await Promise.all(names.map((name) => storage.read(`/folder/${name}`)))
    expect(names.filter((_, index) => found[index] !== 404)).toEqual(expected)
  })

  it('A restore of a page does not bring a published draft back (H-20)', async () => {
    const draft = { query: { version: 'draft' } }
    await storage.call('PUT', '/page.html', { ...draft, body: 'draft' })
    later(1_000)
    await put('/page.html')
    later(1_000)
    await storage.remove('/page.html')
    later(1_000)
    await restored('/page.html')
    expect((await storage.get('/page.html', { meta: '' })).json.draft).toBeNull()
  })

  it('A folder in a removed folder is restored as it was before that removal (H-21)', async () => {
    await put('/around/folder/old')
    later()
    await storage.remove('/around/folder')
    later()
    await put('/around/folder/new')
    await put('/around/other')
    await storage.remove('/around/other')
    await put('/around/other/a')
    later()
    await storage.remove('/around')
    later()
    await restored('/around/folder')
    expect(await storage.read('/around/folder/new')).toBe('/around/folder/new')
    expect(await storage.read('/around/folder/old')).toBe(404)
    await restored('/around/other')
    expect(await storage.read('/around/other/a')).toBe('/around/other/a')
  })
})

describe('A folder that is being removed', () => {
  beforeEach(async () => {
    storage = await openStorage()
    await put('/going/a')
  })

  const startRemoval = () => storage.deps.removals.open(storage.site, parsePath('going'), 'id', entry)

  it('A restore of the folder or of a file in it is refused with 104010 (H-25, E-38)', async () => {
    await storage.remove('/going/a')
    await startRemoval()
    for (const path of ['/going/a', '/going']) {
      expect(statusAndCode(await storage.restore(path))).toEqual([400, 104010])
    }
  })

  it('The preview shows 104010 only for a file in the folder (H-19, S-95)', async () => {
    await startRemoval()
    const preview = async (path: string) => (await storage.get(path, { removal: '' })).json
    expect(await preview('/going/a')).toMatchObject({ files: 1, code: 104010 })
    expect(await preview('/going')).toEqual({ files: 1, folders: 1, bytes: 8 })
  })

  it('A preview that runs out of time marks its counts as "at least" (H-19)', async () => {
    const isOver = () => true
    const counted = await countFolder(storage.deps.files, storage.site, parsePath('going'), { isOver })
    expect(counted).toEqual({ files: 0, folders: 1, bytes: 0, atLeast: true })
  })
})
