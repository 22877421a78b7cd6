import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { inParallel } from '../../../lib/core/in-parallel.ts'
import { unlimited } from '../../../lib/core/time.ts'
import { remove as removeFolder } from '../../../lib/storage/changes/remove.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { codeOf } from '../../support/answer.ts'
import { openBucketInMemory } from '../../support/bucket.ts'
import { callsToTry } from '../../support/each-call.ts'
import { entry } from '../../support/history.ts'
import { createFault, type Fault } from './failing-stores.ts'
import { openStorageOnAws } from './hands.ts'
import { fillFolder, openStorage, type StorageUnderTest } from './service.ts'

// The test sets this clock.
const clock = { wall: () => Date.now(), monotonic: () => performance.now() }

const openOnOneMachine = ({ between }: Fault) => openStorage({ clock, between })

const openOnAws = ({ run }: Fault) =>
  openStorageOnAws({
    clock,
    bucket: openBucketInMemory(),
    prepare({ client, once, dynamodb }) {
      client.middlewareStack.add((next) => (args) => run(() => next(args)), { step: 'initialize' })
      once.middlewareStack.add((next) => (args) => run(() => next(args)), { step: 'initialize' })
      dynamodb.middlewareStack.add((next) => (args) => run(() => next(args)), { step: 'initialize' })
    },
  })

const names = ['a', 'b', 'below/c', 'below/page.html']

describe.each([
  ['one machine', openOnOneMachine],
  ['AWS', openOnAws],
])('A removed folder on %s', { timeout: 300_000 }, (_, open) => {
  let storage: StorageUnderTest
  let fault: Fault
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) })
    // When a call fails, the service logs the missing history entry.
    vi.spyOn(console, 'error').mockReturnValue()
    fault = createFault()
    storage = await open(fault)
  })
  afterEach(async () => {
    vi.useRealTimers()
    vi.restoreAllMocks()
    await storage.close()
  })

  const later = () => vi.setSystemTime(Date.now() + 10_000)
  const fill = async (folder: string, content: string) => {
    await inParallel(names, names.length, async (name) => {
      expect((await storage.put(`${folder}/${name}`, `${content} ${name}`)).status).toBe(200)
    })
    later()
  }
  const remove = (path: string) => storage.remove(path, { remaining: 30_000 })
  const contentsOf = (folder: string) =>
    Promise.all(names.map(async (name) => (await storage.get(`${folder}/${name}`)).text))

  /** Repeats `take`, which dies at another call each time, on a folder that was removed and filled again. */
  const dieAtEachCall = async (take: (folder: string) => Promise<unknown>) => {
    const [broken, intact]: [string[], string[]] = [[], []]
    await fill('/measure', 'newer')
    fault.arm(0)
    await take('/measure')
    const count = fault.calls
    // Dying after a call has the same effect as dying before the next call.
    for (const call of [0, ...callsToTry(count)]) {
      const folder = `/after-${call}`
      await fill(folder, 'old')
      await remove(folder)
      later()
      await fill(folder, 'newer')
      const before = await storage.keys()
      fault.dieAfter(call)
      await take(folder)
      fault.arm(0)
      later()
      const left = await storage.keys()
      const isIntact = before.every((key) => left.includes(key))
      const folders = isIntact ? intact : broken
      folders.push(folder)
    }
    return { broken, intact }
  }
  const newer = names.map((name) => `newer ${name}`)
  /** A folder, the status of its restore, and its contents after the restore. */
  const restored = async (folder: string, restore: (folder: string) => Promise<{ readonly status: number }>) => [
    folder,
    (await restore(folder)).status,
    ...(await contentsOf(folder)),
  ]

  const move = (folder: string) => storage.rename(folder, `${folder.slice(1)}-moved`)
  const restoreOver = (folder: string) => storage.restore(folder, { replace: true })
  const restoreAgain = async (folder: string) => {
    await remove(folder)
    later()
    return storage.restore(folder)
  }
  it.each([
    ['during its removal (H-21)', remove, restoreOver],
    ['during its removal, which was repeated (H-21)', remove, restoreAgain],
    ['during its move (H-26)', move, restoreOver],
  ])('All files can be restored after the process died %s', async (_, take, restore) => {
    const { broken } = await dieAtEachCall(take)
    expect(broken).not.toEqual([])
    for (const folder of broken) {
      expect(await restored(folder, restore)).toEqual([folder, 200, ...newer])
    }
  })

  it('If a process died before it removed a file, an older removal counts (H-21)', async () => {
    const { intact } = await dieAtEachCall(remove)
    expect(intact).not.toEqual([])
    for (const folder of intact) {
      for (let seconds = 0; seconds < 60; seconds += 10) later()
      await remove(`${folder}/a`)
      later()
      expect([folder, codeOf(await storage.restore(folder))]).toEqual([folder, 104022])
      expect(await restored(folder, restoreOver)).toEqual([folder, 200, ...names.map((name) => `old ${name}`)])
    }
  })

  it('All files can be restored after two requests removed the folder at once (H-21)', async () => {
    await fill('/folder', 'newer')
    const { files } = storage.deps
    const removedFolder = { site: storage.site, folder: toStoragePath('folder'), since: Date.now() }
    const listings = ['live', 'draft'].map((area) =>
      files.list({ prefix: `${area}/${storage.site}/folder/`, folded: false, limit: 100 }),
    )
    const objects = (await Promise.all(listings)).flatMap((listing) => listing.objects)
    for (let request = 0; request < 2; request++) {
      later()
      await files.remove(objects, { entry, removedFolder })
    }
    expect(await restored('/folder', storage.restore)).toEqual(['/folder', 200, ...newer])
  })

  it('All files are restored if one was replaced during the removal (H-21)', async () => {
    await fill('/folder', 'newer')
    const { files } = storage.deps
    let isReplaced = false
    const removeLate: typeof files.remove = async (...given) => {
      if (!isReplaced) await storage.put('/folder/a', 'newer a')
      isReplaced = true
      later()
      return files.remove(...given)
    }
    const deps = { ...storage.deps, files: { ...files, remove: removeLate } }
    const scope = { site: storage.site, rights: [], level: 'write' } as const
    const options = { ...scope, author: { actor: 'ann' }, deadline: unlimited, draftOnly: false, withContents: true }
    await removeFolder(deps, toStoragePath('folder'), { ...options, isCaseSensitive: true })
    later()
    expect(await restored('/folder', storage.restore)).toEqual(['/folder', 200, ...newer])
  })

  type Act = (folder: string) => Promise<unknown>
  /** Moves a folder repeatedly. Each time, another call fails. `check` runs after each move that failed. */
  const failEachMove = async (prepare: Act, check: Act) => {
    await prepare('/measure')
    fault.arm(0)
    await storage.rename('/measure', 'measured')
    let failed = 0
    for (const call of callsToTry(fault.calls)) {
      const folder = `/fails-${call}`
      await prepare(folder)
      fault.arm(call)
      const { status } = await storage.rename(folder, `moved-${call}`, { remaining: 60_000 })
      fault.arm(0)
      if (status === 200) continue
      failed += 1
      later()
      await check(folder)
    }
    expect(failed).toBeGreaterThan(0)
  }

  it('All files can be restored after half a removal and a failed move (H-21)', async () => {
    const { files } = storage.deps
    let calls = 0
    const removeHalf = async (folder: string, dies: number) => {
      const name = folder.slice(1)
      const { objects } = await files.list({ prefix: `live/${storage.site}/${name}/`, folded: false, limit: 3 })
      const removedFolder = { site: storage.site, folder: toStoragePath(name), since: Date.now() }
      fault.dieAfter(dies)
      await files.remove(objects, { removedFolder }).catch(() => {})
      calls = fault.calls
      fault.arm(0)
    }
    await fill('/half', 'newer')
    await removeHalf('/half', Number.POSITIVE_INFINITY)
    const last = Math.max(1, calls - 1)
    const prepare = async (folder: string) => {
      await fill(folder, 'old')
      await remove(folder)
      later()
      await fill(folder, 'newer')
      await removeHalf(folder, last)
      later()
    }
    await failEachMove(prepare, async (folder) => {
      expect(await restored(folder, restoreOver)).toEqual([folder, 200, ...newer])
    })
  })

  it.each([
    ['a file', '/a'],
    ['a folder', '/below'],
  ])('All files can be restored after a failed restore of %s of the folder (H-21)', async (_, part) => {
    const prepare = async (folder: string) => {
      await fill(folder, 'newer')
      await remove(folder)
      later()
    }
    await prepare('/measure')
    fault.arm(0)
    await storage.restore(`/measure${part}`)
    for (const call of callsToTry(fault.calls)) {
      const folder = `/fails-${call}`
      await prepare(folder)
      fault.arm(call)
      await storage.restore(folder + part)
      fault.arm(0)
      // A lock that was not released ends.
      for (let seconds = 0; seconds <= 60; seconds += 10) later()
      expect(await restored(folder, restoreOver)).toEqual([folder, 200, ...newer])
    }
  })

  it('A restore leaves out a file that was removed alone after a move (H-26)', async () => {
    await fill('/folder', 'newer')
    expect((await storage.rename('/folder', 'moved', { remaining: 60_000 })).status).toBe(200)
    later()
    await storage.put('/folder/own', 'x')
    await remove('/folder/own')
    later()
    expect(await restored('/folder', restoreOver)).toEqual(['/folder', 200, ...newer])
    expect((await storage.get('/folder/own')).status).toBe(404)
  })

  it('A restore leaves out a file that was removed alone after a failed move (H-21)', async () => {
    await failEachMove(
      (folder) => fill(folder, 'newer'),
      async (folder) => {
        await remove(`${folder}/a`)
        later()
        expect([folder, (await remove(folder)).status]).toEqual([folder, 200])
        later()
        expect([folder, (await storage.restore(folder)).status]).toEqual([folder, 200])
        expect([folder, (await contentsOf(folder)).slice(1)]).toEqual([folder, newer.slice(1)])
        expect([folder, (await storage.get(`${folder}/a`)).status]).toEqual([folder, 404])
      },
    )
  })
})

describe('A removed folder on one machine whose clock was set back', () => {
  const hour = 3600_000
  let storage: StorageUnderTest
  let now = Date.UTC(2026, 0, 1)
  beforeEach(async () => {
    storage = await openStorage({ clock: { wall: () => now, monotonic: () => performance.now() } })
  })
  afterEach(() => storage.close())

  it.each([
    ['small', 3],
    ['large', 1_100],
    ['very large', 2_100],
  ])('A folder is restored as it was before its last removal: %s (H-21, H-37)', async (folder, count) => {
    await fillFolder(storage, `/${folder}`, 2)
    expect((await storage.remove(`/${folder}`)).status).toBe(200)
    now -= hour
    await fillFolder(storage, `/${folder}`, count)
    // This file is not restored, because it was removed before the folder.
    await storage.put(`/${folder}/earlier.txt`)
    expect((await storage.remove(`/${folder}/earlier.txt`)).status).toBe(200)
    const keys = await storage.keys()
    expect((await storage.remove(`/${folder}`)).status).toBe(200)
    const trash: { path: string }[] = (await storage.get('', { deleted: 'all' })).json.deleted
    expect(trash.map(({ path }) => path)).toEqual([folder, `${folder}/earlier.txt`])
    now -= hour
    expect(codeOf(await storage.restore(`/${folder}`))).toBeUndefined()
    expect(await storage.keys()).toEqual(keys)
  })
})
