import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { inParallel } from '../../../lib/core/in-parallel.ts'
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

const stores = [
  ['one machine', ({ between }: Fault) => openStorage({ clock, between })],
  ['AWS', openOnAws],
] as const
type Act = (folder: string) => Promise<unknown>
type Request = (folder: string) => Promise<{ readonly status: number }>

let storage: StorageUnderTest
let fault: Fault
const openForEach = (open: (fault: Fault) => Promise<StorageUnderTest>) => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) })
    // When a call fails, the service logs the missing history entry.
    vi.spyOn(console, 'error').mockReturnValue()
    fault = createFault()
    storage = await open(fault)
  })
  afterEach(() => void vi.useRealTimers())
}

const names = ['a', 'b', 'below/c', 'below/page.html']
const filled = (content: string) => names.map((name) => `${content} ${name}`)
const later = (seconds = 10) => vi.setSystemTime(Date.now() + 1_000 * seconds)
const fill = async (folder: string, content = 'newer') => {
  await inParallel(names, names.length, async (name) => {
    expect((await storage.put(`${folder}/${name}`, `${content} ${name}`)).status).toBe(200)
  })
  later()
}
const remove = async (path: string) => {
  const answer = await storage.remove(path, { remaining: 30_000 })
  later()
  return answer
}
const refill = async (folder: string) => {
  await fill(folder, 'old')
  await remove(folder)
  await fill(folder)
}
const move = (folder: string) => storage.rename(folder, `${folder.slice(1)}-moved`, { remaining: 60_000 })
const restoreOver = (folder: string) => storage.restore(folder, { replace: true })
const restoreAgain = async (folder: string) => {
  await remove(folder)
  return storage.restore(folder)
}
const contentsOf = (folder: string) =>
  Promise.all(names.map(async (name) => (await storage.get(`${folder}/${name}`)).text))
const expectRestored = async (folder: string, restore: Request = restoreOver, content = 'newer') =>
  expect([folder, (await restore(folder)).status, ...(await contentsOf(folder))]).toEqual([
    folder,
    200,
    ...filled(content),
  ])

/** The calls of an act at which a test lets it die or fail. */
const callsOf = async (prepare: Act, act: Act) => {
  await prepare('/measure')
  fault.arm(0)
  await act('/measure')
  return callsToTry(fault.calls)
}

/** Repeats `take`, which dies at another call each time, on a folder that was removed and filled again. */
const dieAtEachCall = async (take: Act) => {
  const [broken, intact]: [string[], string[]] = [[], []]
  // Dying after a call has the same effect as dying before the next call.
  for (const call of [0, ...(await callsOf(fill, take))]) {
    const folder = `/after-${call}`
    await refill(folder)
    const before = await storage.keys()
    fault.dieAfter(call)
    await take(folder)
    fault.arm(0)
    later()
    const left = new Set(await storage.keys())
    ;(before.every((key) => left.has(key)) ? intact : broken).push(folder)
  }
  return { broken, intact }
}

type Check = (folder: string, status: number) => Promise<void>
/** Repeats `act` on a new folder. Each time, another call fails. `check` runs after each time. */
const failAtEachCall = async (prepare: Act, act: Request, check: Check) => {
  const statuses = new Set<number>()
  for (const call of await callsOf(prepare, act)) {
    const folder = `/fails-${call}`
    await prepare(folder)
    fault.arm(call)
    const { status } = await act(folder)
    fault.arm(0)
    later()
    statuses.add(status)
    await check(folder, status)
  }
  expect(statuses).not.toEqual(new Set([200]))
}

describe.each(stores)('After a process died, a removed folder on %s', { timeout: 300_000 }, (_, open) => {
  openForEach(open)

  it.each([
    ['during its removal (H-21)', remove, restoreOver],
    ['during its removal, which was repeated (H-21)', remove, restoreAgain],
    ['during its move (H-26)', move, restoreOver],
  ])('All files can be restored after the process died %s', async (_, take, restore) => {
    const { broken } = await dieAtEachCall(take)
    expect(broken).not.toEqual([])
    for (const folder of broken) await expectRestored(folder, restore)
  })

  it('If a process died before it removed a file, an older removal counts (H-21)', async () => {
    const { intact } = await dieAtEachCall(remove)
    expect(intact).not.toEqual([])
    for (const folder of intact) {
      later(60)
      await remove(`${folder}/a`)
      expect([folder, codeOf(await storage.restore(folder))]).toEqual([folder, 104022])
      await expectRestored(folder, restoreOver, 'old')
    }
  })
})

// On one machine, a removal of few objects is one transaction.
describe('After half a removal, a folder on AWS', { timeout: 300_000 }, () => {
  openForEach(openOnAws)

  it('All files can be restored after a failed move (H-21)', async () => {
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
    await fill('/half')
    await removeHalf('/half', Number.POSITIVE_INFINITY)
    const last = Math.max(1, calls - 1)
    const prepare = async (folder: string) => {
      await refill(folder)
      await removeHalf(folder, last)
      later()
    }
    await failAtEachCall(prepare, move, async (folder, status) => {
      if (status !== 200) await expectRestored(folder)
    })
  })
})

describe.each(stores)('After a failed call, a removed folder on %s', { timeout: 300_000 }, (_, open) => {
  openForEach(open)

  it.each([
    ['a file', '/a'],
    ['a folder', '/below'],
  ])('All files can be restored after a failed restore of %s of the folder (H-21)', async (_, part) => {
    const prepare = async (folder: string) => {
      await fill(folder)
      await remove(folder)
    }
    const restorePart = (folder: string) => storage.restore(folder + part)
    await failAtEachCall(prepare, restorePart, async (folder) => {
      // A lock that was not released ends.
      later(60)
      await expectRestored(folder)
    })
  })

  it('A restore leaves out a file that was removed alone after a failed move (H-21)', async () => {
    await failAtEachCall(fill, move, async (folder, status) => {
      if (status === 200) return
      await remove(`${folder}/a`)
      const statuses = [(await remove(folder)).status, (await storage.restore(folder)).status]
      statuses.push((await storage.get(`${folder}/a`)).status)
      const others = (await contentsOf(folder)).slice(1)
      expect([folder, ...statuses, ...others]).toEqual([folder, 200, 200, 404, ...filled('newer').slice(1)])
    })
  })
})

describe.each(stores)('A removed folder on %s', (_, open) => {
  openForEach(open)

  it('All files can be restored after two requests removed the folder at once (H-21)', async () => {
    await fill('/folder')
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
    await expectRestored('/folder', storage.restore)
  })

  it('All files are restored if one was replaced during the removal (H-21)', async () => {
    await fill('/folder')
    const { files } = storage.deps
    const { remove: removeObjects } = files
    vi.spyOn(files, 'remove').mockImplementationOnce(async (...given) => {
      await storage.put('/folder/a', 'newer a')
      later()
      return removeObjects(...given)
    })
    expect((await storage.remove('/folder')).status).toBe(200)
    later()
    await expectRestored('/folder', storage.restore)
  })

  it('A restore leaves out a file that was removed alone after a move (H-26)', async () => {
    await fill('/folder')
    expect((await move('/folder')).status).toBe(200)
    later()
    await storage.put('/folder/own', 'x')
    await remove('/folder/own')
    await expectRestored('/folder')
    expect((await storage.get('/folder/own')).status).toBe(404)
  })
})

describe('A removed folder on one machine whose clock was set back', () => {
  const hour = 3600_000
  let now = Date.UTC(2026, 0, 1)
  beforeEach(async () => {
    storage = await openStorage({ clock: { wall: () => now, monotonic: () => performance.now() } })
  })

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
