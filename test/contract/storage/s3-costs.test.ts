import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { UsageCounts } from '../../../lib/storage/quota.ts'
import { noRemovals, openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import { entry } from '../../support/history.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

let s3: MemoryS3
let bucket: string
let storage: StorageUnderTest
/** Runs before each call to S3 or to a table. */
let asked = async () => {}

const asking =
  <Input extends readonly unknown[], Output>(call: (...input: Input) => Promise<Output>) =>
  async (...input: Input): Promise<Output> => {
    await asked()
    return call(...input)
  }
const removals = {
  look: asking(async () => ({ isRemoving: false, hasChanged: asking(async () => false) })),
  begin: asking(noRemovals.begin),
  note: asking(noRemovals.note),
  cancel: asking(noRemovals.cancel),
}

beforeEach(async () => {
  const opened = openBucketInMemory()
  s3 = opened.s3
  bucket = opened.bucket
  asked = async () => {}
  const files = openObjectStore(opened, { removals })
  const counts: UsageCounts = {
    reserve: asking(async () => 1),
    release: asking(async () => {}),
    bytesOf: asking(async () => 0),
    prepare: asking(async () => {}),
  }
  storage = await openStorage({
    between: ({ workflows, removals: going, progress }) => ({
      files,
      counts,
      workflows: { ...workflows, isRunning: asking(workflows.isRunning) },
      removals: { ...going, openOf: asking(going.openOf) },
      progress: { ...progress, begin: asking(progress.begin), report: asking(progress.report) },
    }),
  })
})
afterEach(() => storage.close())

/** Calls at the same time are one round: none is answered before the last one is made. */
const inRounds = () => {
  const count = { calls: 0, rounds: 0 }
  let held: (() => void)[] = []
  let known = 0
  const release = async (): Promise<void> => {
    for (let seen = -1; seen !== known; ) {
      seen = known
      for (let turns = 0; turns < 10; turns++) await turn()
    }
    count.rounds += 1
    const all = held
    held = []
    for (const go of all) go()
  }
  asked = () => {
    known += 1
    return new Promise((resolve) => {
      held.push(resolve)
      if (held.length === 1) void release()
    })
  }
  s3.before = () => {
    count.calls += 1
    return asked()
  }
  return count
}

const upload = (folder: string, names: readonly string[]) =>
  storage.post(
    folder,
    names.map((name) => ({ name, content: 'text' })),
  )

/** Past the service, which would look for each folder. */
const putFolders = async (path: string) => {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    const key = `${bucket}/live/${storage.site}${path.slice(0, end)}/`
    await s3.requestHandler.handle({ method: 'PUT', path: `/${key}`, headers: {} })
  }
}

const ifNone = { 'If-None-Match': '*' }
let tag: string
const replaceTagged = (path: string) => storage.put(path, 'x', {}, { 'If-Match': tag })

describe('The calls of a request to S3, and its rounds to all stores', () => {
  const deep = `/${Array.from({ length: 449 }, () => 'a').join('/')}`

  it.each([
    ['PUT of a file into a folder', 5, 6, () => storage.put('/f/new.txt', 'x')],
    ['PUT of a page with no draft', 6, 7, () => storage.put('/f/page.html', 'x')],
    ['PUT of a file into a new folder', 8, 11, () => storage.put('/new/new.txt', 'x')],
    ['POST of a file into a folder', 5, 7, () => upload('/f', ['new.txt'])],
    ['POST of ten files into a folder', 5, 16, () => upload('/f', [...'0123456789'])],
    ['GET of ?meta of a file', 1, 1, () => storage.get('/f/a.txt', { meta: '' })],
    ['GET of ?meta of a page', 1, 2, () => storage.get('/f/a.html', { meta: '' })],
    ['GET of ?meta of a folder', 2, 3, () => storage.get('/f', { meta: '' })],
    ['GET of every file below', 2, 3, () => storage.get('/f', { meta: '', recursive: 'true' })],
    ['GET of a link', 1, 1, () => storage.get('/f/a.txt', { link: '' })],
    ['PUT of a file that must be new', 5, 9, () => storage.put('/f/new.txt', 'x', {}, ifNone)],
    ['PUT onto a state that was read', 5, 8, () => replaceTagged('/f/old.txt')],
    ['PUT into a folder in a path of 450 segments', 5, 6, () => storage.put(`${deep}/b`, 'x')],
  ] as const)('%s: at most %i rounds and %i calls', async (name, rounds, calls, ask) => {
    await storage.makeFolder('/f')
    if (name.includes('450')) await putFolders(deep)
    if (name.startsWith('GET')) await upload('/f', ['a.txt', 'a.html'])
    await storage.put('/f/old.txt', 'old')
    tag = await storage.tagOf('/f/old.txt')
    const count = inRounds()
    expect((await ask()).status).toBe(200)
    expect(count.rounds).toBeLessThanOrEqual(rounds)
    expect(count.calls).toBeLessThanOrEqual(calls)
  })

  it.each([
    ['GET of a file that is there', 200, 1, 1, 'GET', '/Folder/Sub/a.txt'],
    ['GET of a file in other case, in a folder as written', 200, 4, 4, 'GET', '/Folder/Sub/A.TXT'],
    ['GET of a page in other case, in a folder as written', 200, 4, 5, 'GET', '/Folder/Sub/P.html'],
    ['GET of a file whose two folders are in other case', 200, 9, 9, 'GET', '/folder/SUB/a.txt'],
    ['GET of nothing, in a folder that is there', 404, 3, 3, 'GET', '/Folder/Sub/none'],
    ['GET of nothing, in a folder that is not there', 404, 5, 5, 'GET', '/none/none'],
    ['DELETE of a file that is there', 200, 3, 2, 'DELETE', '/Folder/Sub/a.txt'],
    ['DELETE of a file whose folder is in other case', 200, 9, 8, 'DELETE', '/Folder/SUB/a.txt'],
    ['DELETE of nothing, in a folder that is there', 404, 5, 6, 'DELETE', '/Folder/Sub/none'],
    ['PUT of a file whose folder is in other case', 200, 8, 10, 'PUT', '/Folder/SUB/a.txt'],
  ] as const)('%s is %i: %i rounds and %i calls', async (_, status, rounds, calls, method, path) => {
    await storage.put('/Folder/Sub/a.txt', 'a')
    await storage.put('/Folder/Sub/p.html', 'p')
    const count = inRounds()
    expect((await storage.call(method, path)).status).toBe(status)
    expect(count).toEqual({ rounds, calls })
  })

  it.each([
    ['PUT of a new file', 7, 7, () => storage.put('/f/new.txt', 'x')],
    ['PUT of a smaller file', 8, 8, () => storage.put('/f/old.txt', 'x')],
    ['DELETE of a file', 5, 2, () => storage.remove('/f/old.txt')],
  ] as const)(
    'A quota adds a look and its count to %s: at most %i rounds and %i calls (S-125)',
    async (_, rounds, calls, ask) => {
      await storage.stores.sites.setQuota(storage.site, 1_000, entry)
      await storage.put('/f/old.txt', 'old')
      const count = inRounds()
      expect((await ask()).status).toBe(200)
      expect(count.rounds).toBeLessThanOrEqual(rounds)
      expect(count.calls).toBeLessThanOrEqual(calls)
    },
  )

  it.each([
    ['into a folder', '/f/copy', 7, 30],
    ['into a new folder', '/new/copy', 9, 34],
  ])(
    'a copy of a folder of 20 files %s: one call for each object, and few besides',
    async (_, copyTo, rounds, calls) => {
      await storage.makeFolder('/f')
      await upload(
        '/source',
        Array.from({ length: 20 }, (_, index) => `${index}.txt`),
      )
      const count = inRounds()
      expect((await storage.relocate('/source', { copyTo })).status).toBe(200)
      expect(count.rounds).toBeLessThanOrEqual(rounds)
      expect(count.calls).toBeLessThanOrEqual(calls)
    },
  )
})
