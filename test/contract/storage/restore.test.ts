import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../lib/core/time.ts'
import { partLength } from '../../../lib/storage/content.ts'
import { parsePath } from '../../../lib/storage/path.ts'
import { countFolder } from '../../../lib/storage/reading/preview-removal.ts'
import { codeOf, statusAndCode } from '../../support/answer.ts'
import { openBucketInMemory } from '../../support/bucket.ts'
import { createGate } from '../../support/gate.ts'
import { entry } from '../../support/history.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'
import { uploadIn } from '../uploads/service.ts'
import { openStorageOnAws, storageHands } from './hands.ts'
import { interruptChanges } from './interruption.ts'
import { holdAt, isBatch, isCopy, isListing } from './s3-bench.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

// The acceptance cases test the results of a restore. The cases here need to control the clock, a lock or
// the calls to a store.

let storage: StorageUnderTest
const clock = { ...systemClock, wall: () => Date.now() }
const later = (pause = 10_000) => vi.setSystemTime(Date.now() + pause)
afterEach(() => void vi.useRealTimers())

const put = async (path: string) => {
  expect((await storage.put(path)).status).toBe(200)
}

/** Lets time pass before and after the removal. */
const removeApart = async (path: string, pause?: number) => {
  later(pause)
  expect((await storage.remove(path)).status).toBe(200)
  later(pause)
}

describe.each(storageHands)('The time of a removal on $name', ({ name: hand, open }) => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) })
    storage = await open({ clock })
  })

  const restored = async (path: string) => {
    expect(statusAndCode(await storage.restore(path))).toEqual([200, undefined])
  }

  it('A restore finds a file whose upload began before an older removal (H-21)', async () => {
    const { create, patch } = storage
    const bytes = Buffer.alloc(partLength + 1)
    await put('/folder/large')
    const upload = uploadIn(await create('large', bytes.length, { folder: '/folder' }))
    await patch(upload, 0, bytes.subarray(0, partLength))
    await removeApart('/folder/large')
    await patch(upload, partLength, bytes.subarray(partLength))
    await removeApart('/folder')
    await restored('/folder')
    expect((await storage.get('/folder/large')).status).toBe(200)
  })

  // S3 has whole seconds, so removals in one second cannot be distinguished.
  const allInOneSecond = hand === 'AWS' ? ['first', 'second', 'third'] : ['third']
  it.each([
    ['restores only the entries of the last removal', 5_000, ['third']],
    ['may restore entries that were removed in the same second', 10, allInOneSecond],
  ])('A restore %s (H-21, H-23)', async (_, pause, expected) => {
    await put('/folder/first')
    await removeApart('/folder', pause)
    for (const name of ['second', 'third']) await put(`/folder/${name}`)
    await removeApart('/folder/second', pause)
    await removeApart('/folder', pause)
    await restored('/folder')
    const names = ['first', 'second', 'third']
    const found = await Promise.all(names.map((name) => storage.read(`/folder/${name}`)))
    expect(names.filter((_, index) => found[index] !== 404)).toEqual(expected)
  })

  const [publish, remove] = [() => put('/page.html'), () => storage.remove('/page.html')]
  const draft = (path = '/page.html') => storage.put(path, 'draft', { version: 'draft' })
  const [draftOther, moveOther] = [() => draft('/other.html'), () => storage.rename('/other.html', 'page.html')]
  it.each([
    ['a published draft', [draft, publish, remove], ['/page.html', '/page.html']],
    ['an older page instead of a draft', [publish, remove, draft, remove], [404, 'draft']],
    ['an older page instead of a moved draft', [draftOther, publish, remove, moveOther, remove], [404, 'draft']],
  ] as const)('A restore of a page does not bring back %s (H-20, H-37)', async (_, changes, texts) => {
    for (const make of changes) {
      await make()
      later(61_000)
    }
    const { deleted } = (await storage.get('', { deleted: 'all' })).json
    expect(deleted).toMatchObject([{ path: 'page.html', size: texts[1].length }])
    await restored('/page.html')
    expect([await storage.read('/page.html'), await storage.read('/page.html', { version: 'draft' })]).toEqual(texts)
  })

  it('A folder in a removed folder is restored as it was before that removal (H-21)', async () => {
    await put('/around/folder/old')
    await removeApart('/around/folder')
    await put('/around/folder/new')
    await put('/around/other')
    await storage.remove('/around/other')
    await put('/around/other/a')
    await removeApart('/around')
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

describe('A folder that is being restored on S3', () => {
  let s3: MemoryS3
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) })
    const bucket = openBucketInMemory()
    s3 = bucket.s3
    storage = await openStorageOnAws({ bucket, clock })
    for (const name of ['a', 'b', 'c']) await storage.put(`/folder/${name}.txt`)
    expect((await storage.remove('/folder')).status).toBe(200)
    later(120_000)
  })
  const readAll = () =>
    Promise.all(['a', 'b', 'c'].map(async (name) => (await storage.get(`/folder/${name}.txt`)).status))
  const all = [200, 200, 200]

  it('Every other change is refused with 104010 until the restore ends (H-25, H-32)', async () => {
    const { put, post, remove, restore, call } = storage
    const beforeMarkersAreRemoved = holdAt(s3, isBatch)
    const restoring = restore('/folder')
    await beforeMarkersAreRemoved.reached
    const changes = [
      ...['/folder/new.txt', '/folder/a.txt', '/folder/below/new.txt'].map((path) => put(path)),
      post('/folder', [{ name: 'new.txt', content: 'x' }]),
      remove('/folder'),
      ...['/folder', '/folder/a.txt'].map((path) => restore(path)),
      call('DELETE', '/folder/a.txt', { query: { versions: '' } }),
    ]
    expect((await Promise.all(changes)).map(codeOf)).toEqual(changes.map(() => 104010))
    expect((await put('/beside.txt')).status).toBe(200)
    beforeMarkersAreRemoved.open()
    expect((await restoring).status).toBe(200)
    expect(await readAll()).toEqual(all)
    expect((await put('/folder/new.txt')).status).toBe(200)
    expect((await remove('/folder')).status).toBe(200)
  })

  it.each([{}, { replace: true }])(
    'During the restore of one of its files, it cannot be restored: %j (H-25)',
    async (body) => {
      const beforeMarkerIsRemoved = holdAt(s3, ({ method }) => method === 'DELETE')
      const restoring = storage.restore('/folder/a.txt')
      await beforeMarkerIsRemoved.reached
      const meanwhile = await storage.restore('/folder', body)
      beforeMarkerIsRemoved.open()
      expect([codeOf(meanwhile), (await restoring).status]).toEqual([104010, 200])
      expect((await storage.restore('/folder', { replace: true })).status).toBe(200)
      expect(await readAll()).toEqual(all)
    },
  )

  it('An upload that began before the restore is undone', async () => {
    const { pass, reached, open } = createGate()
    s3.before = async ({ method, path }) => {
      if (method === 'PUT' && path.includes('/folder/')) await pass()
    }
    const uploading = storage.put('/folder/late.txt')
    await reached
    expect((await storage.restore('/folder')).status).toBe(200)
    open()
    expect(codeOf(await uploading)).toBe(104010)
    expect((await storage.get('/folder/late.txt')).status).toBe(404)
    expect(await readAll()).toEqual(all)
  })

  it.each(['copyTo', 'path'])('A restore below the "%s" of another request never hides new files', async (member) => {
    await storage.put('/new/below/a.txt', 'newer')
    await storage.put('/gone/below/a.txt', 'older')
    await removeApart('/gone')
    const { pass, reached, open } = createGate()
    let relocating: ReturnType<typeof storage.relocate> | undefined
    s3.before = async (request) => {
      if (isCopy(request)) await pass()
      if (!isBatch(request)) return
      s3.before = async () => undefined
      open()
      await relocating
    }
    relocating = storage.relocate('/new', { [member]: 'gone' })
    await reached
    const restored = await storage.restore('/gone/below')
    expect([restored.status, codeOf(await relocating)]).toEqual([200, 104010])
    expect(await storage.read('/gone/below/a.txt')).toBe('older')
  })

  it.each(['copyTo', 'path'])('A "%s" of the folder above takes no half-restored files along', async (member) => {
    const listing = holdAt(s3, (request) => isListing(request) && request.query?.['prefix'] === 'live/1001/above/')
    await storage.put('/above/folder/a.txt')
    await storage.put('/above/b.txt')
    await storage.remove('/above/folder')
    const relocating = storage.relocate('/above', { [member]: 'new' })
    await listing.reached
    const isRestored = holdAt(s3, ({ method, path }) => method === 'HEAD' && path.endsWith('/above/folder/a.txt'))
    const restoring = storage.restore('/above/folder')
    await isRestored.reached
    listing.open()
    expect(codeOf(await relocating)).toBe(104010)
    isRestored.open()
    expect((await restoring).status).toBe(200)
  })

  it.each(['folder', 'alone.txt'])('Restores of "%s" that are undone leave it in the trash (H-37)', async (path) => {
    await put('/alone.txt')
    expect((await storage.remove('/alone.txt')).status).toBe(200)
    for (let times = 0; times < 2; times++) {
      later(120_000)
      let remaining = 60_000
      s3.before = async (request) => {
        if (request.method === 'DELETE' || isBatch(request)) remaining = 0
      }
      expect((await storage.restore(`/${path}`, {}, { remaining: () => remaining })).status).toBe(503)
      const { deleted } = (await storage.get('', { deleted: 'all' })).json
      expect(deleted).toMatchObject([{ path: 'alone.txt' }, { path: 'folder' }])
    }
    s3.before = async () => undefined
    later(120_000)
    expect((await storage.restore(`/${path}`)).status).toBe(200)
    expect(await readAll()).toEqual(path === 'folder' ? all : [404, 404, 404])
  })
})

it('The time for a restore begins before its folder is locked (H-25)', async () => {
  let passed = 0
  storage = await openStorageOnAws({ clock: { wall: () => Date.now(), monotonic: () => passed } })
  const { removals } = storage.deps
  const { lock } = removals
  vi.spyOn(removals, 'lock').mockImplementationOnce((...given) => {
    passed = 50_000
    return lock(...given)
  })
  await put('/folder/a.txt')
  await storage.remove('/folder')
  expect((await storage.restore('/folder')).status).toBe(503)
})

describe('A restore of a folder with "replace" on one machine', () => {
  const others = () => interruptChanges(storage.deps.files)
  beforeEach(async () => {
    storage = await openStorage()
    for (const path of ['/r/a', '/r/e.html/x.html']) await put(path)
    await storage.remove('/r')
    await put('/r/other')
  })

  it.each([
    ['a page', '/r/e.html', {}],
    ['a draft', '/r/e.html', { version: 'draft' }],
    ['a folder with a file', '/r/a/new', {}],
    ['a folder with a draft', '/r/a/new.html', { version: 'draft' }],
  ])('It is refused if %s takes the place of a folder or file (S-41, S-43)', async (_, path, query) => {
    others().once(async () => expect((await storage.put(path, 'new', query)).status).toBe(200))
    expect(codeOf(await storage.restore('/r', { replace: true }))).toBe(104022)
    expect(await storage.read(path, query)).toBe('new')
    expect(await storage.read('/r/e.html/x.html')).toBe(404)
  })
})

it('On one machine, no restore brings back a file and a folder of one name (S-43)', async () => {
  storage = await openStorage()
  await put('/r/a')
  await storage.remove('/r/a')
  await put('/r/a/b')
  // Without the record of a removal, a restore finds everything that was removed in the last minute.
  await storage.deps.files.remove(await storage.objects(), { entry })
  expect(codeOf(await storage.restore('/r'))).toBe(104022)
  expect(await storage.keys()).toEqual([])
})

it.each(storageHands)('A restore during a removal restores no older version: $name (H-24)', async ({ open }) => {
  storage = await open()
  const { files } = storage.deps
  const { versions } = files
  for (const text of ['older', 'newer']) await storage.put('/a', text)
  vi.spyOn(files, 'versions').mockImplementationOnce(async (...query) => {
    const found = await versions(...query)
    await storage.remove('/a')
    return found
  })
  expect((await storage.restore('/a')).status).toBe(200)
  expect(await storage.read('/a')).toBe('newer')
})

it.each(storageHands)('A restore is refused if another one has restored the file: $name (H-24)', async ({ open }) => {
  storage = await open()
  const { removals } = storage.deps
  const { lock } = removals
  await put('/a')
  await storage.remove('/a')
  vi.spyOn(removals, 'lock').mockImplementationOnce(async (...given) => {
    expect((await storage.restore('/a')).status).toBe(200)
    return lock(...given)
  })
  expect(codeOf(await storage.restore('/a'))).toBe(104022)
})
