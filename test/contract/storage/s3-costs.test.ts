import { beforeEach, expect, it } from 'vitest'
import type { Reservation, UsageCounts } from '../../../lib/storage/quota.ts'
import { aroundCalls } from '../../support/around-calls.ts'
import { noRemovals, openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import { entry, unrecorded } from '../../support/history.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'
import { createRounds } from '../../support/rounds.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

let s3: MemoryS3
let bucket: string
let storage: StorageUnderTest
/** Runs before each call to S3 or to a table. */
let asked = async () => {}
/** In milliseconds: the age of every folder. */
let age: number

const asking = <Port extends object>(port: Port): Port => aroundCalls(port, (call) => asked().then(call))

beforeEach(async () => {
  const opened = openBucketInMemory()
  s3 = opened.s3
  bucket = opened.bucket
  asked = async () => {}
  age = 3_600_000
  const files = openObjectStore(opened, {
    ...asking({ record: unrecorded }),
    removals: asking(noRemovals),
    now: () => Date.now() + age,
  })
  const counts = asking<UsageCounts>({
    async reserve() {
      const { release, undo } = asking<Reservation>({ release: async () => {}, undo: async () => {} })
      return { release: async (bytes) => void (bytes > 0 && (await release(bytes))), undo }
    },
  })
  storage = await openStorage({
    wholeBodies: true,
    between: ({ workflows, removals, progress }) => ({
      files,
      counts,
      workflows: { ...workflows, ...asking({ isRunning: workflows.isRunning }) },
      removals: { ...removals, ...asking({ locksOf: removals.locksOf }) },
      progress: asking(progress),
    }),
  })
})

const inRounds = () => {
  const { count, ask } = createRounds()
  asked = ask
  s3.before = () => {
    count.calls += 1
    return ask()
  }
  return count
}

const upload = (folder: string, names: readonly string[]) =>
  storage.post(
    folder,
    names.map((name) => ({ name, content: 'text' })),
  )

/** Makes folders without the service, which would look for each folder. */
const putFolders = async (path: string) => {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    const key = `${bucket}/live/${storage.site}${path.slice(0, end)}/`
    await s3.requestHandler.handle({ method: 'PUT', path: `/${key}`, headers: {} })
  }
}

const ifNone = { 'If-None-Match': '*' }
let tag: string
const replaceTagged = (path: string) => storage.put(path, 'x', {}, { 'If-Match': tag })

it('An upload with the name of a folder is refused, and writes nothing (S-43)', async () => {
  await storage.makeFolder('/f')
  await storage.makeFolder('/f/sub')
  const before = s3.requests.length
  const answers = [await storage.put('/f/sub', 'x'), await upload('/f', ['a.txt', 'sub']), await upload('/f', ['sub'])]
  expect(answers.map(({ json }) => json.code)).toEqual([104022, 104022, 104022])
  expect(s3.requests.slice(before).map(({ method }) => method)).not.toContain('PUT')
})

const deep = `/${Array.from({ length: 449 }, () => 'a').join('/')}`

it.each([
  ['PUT of a file into a folder', 200, 4, 5, () => storage.put('/f/new.txt', 'x')],
  ['PUT of a page with no draft', 200, 5, 6, () => storage.put('/f/page.html', 'x')],
  ['PUT of a file into a new folder', 200, 7, 9, () => storage.put('/new/new.txt', 'x')],
  ['POST of a file into a folder', 200, 4, 7, () => upload('/f', ['new.txt'])],
  ['POST of three files into a folder', 200, 4, 11, () => upload('/f', [...'012'])],
  ['POST of ten files into a folder', 200, 4, 25, () => upload('/f', [...'0123456789'])],
  ['POST of 13 files into a folder', 200, 5, 19, () => upload('/f', [...'0123456789abc'])],
  ['GET of ?meta of a file', 200, 1, 1, () => storage.get('/f/a.txt', { meta: '' })],
  ['GET of ?meta of a page', 200, 1, 2, () => storage.get('/f/a.html', { meta: '' })],
  ['GET of ?meta of a folder', 200, 2, 3, () => storage.get('/f', { meta: '' })],
  ['GET of a recursive list', 200, 2, 3, () => storage.get('/f', { meta: '', recursive: 'true' })],
  ['GET of a link', 200, 1, 1, () => storage.get('/f/a.txt', { link: '' })],
  ['PUT of a file that must be new', 200, 4, 7, () => storage.put('/f/new.txt', 'x', {}, ifNone)],
  ['PUT with a tag in If-Match', 200, 4, 6, () => replaceTagged('/f/old.txt')],
  ['PUT into a folder in a path of 450 segments', 200, 4, 5, () => storage.put(`${deep}/b`, 'x')],
  ['GET of an existing file', 200, 1, 1, () => storage.get('/Folder/Sub/a.txt')],
  ['GET of a file in another case, in a folder as written', 200, 4, 4, () => storage.get('/Folder/Sub/A.TXT')],
  ['GET of a page in another case, in a folder as written', 200, 4, 5, () => storage.get('/Folder/Sub/P.html')],
  ['GET of a file whose two folders are in another case', 200, 9, 9, () => storage.get('/folder/SUB/a.txt')],
  ['GET of a missing file in an existing folder', 404, 3, 3, () => storage.get('/Folder/Sub/none')],
  ['GET of a missing file in a missing folder', 404, 5, 5, () => storage.get('/none/none')],
  ['DELETE of an existing file', 200, 4, 2, () => storage.remove('/Folder/Sub/a.txt')],
  ['DELETE of a file whose folder is in another case', 200, 10, 8, () => storage.remove('/Folder/SUB/a.txt')],
  ['DELETE of a missing file in an existing folder', 404, 5, 6, () => storage.remove('/Folder/Sub/none')],
  ['PUT of a file whose folder is in another case', 200, 7, 9, () => storage.put('/Folder/SUB/a.txt', '')],
  ['PUT of ?meta that renames a file', 200, 9, 8, () => storage.relocate('/f/a.txt', { name: 'b.txt' })],
  ['copy of 20 files into a folder', 200, 8, 28, () => storage.relocate('/20', { copyTo: 'f/copy' })],
  ['copy of 20 files into a new folder', 200, 10, 32, () => storage.relocate('/20', { copyTo: 'new/copy' })],
  ['PUT of a new file with a quota (S-125)', 200, 6, 6, () => storage.put('/f/new.txt', 'x')],
  ['PUT of a smaller file with a quota (S-125)', 200, 7, 6, () => storage.put('/f/old.txt', 'x')],
  ['DELETE of a file with a quota (S-125)', 200, 6, 2, () => storage.remove('/f/old.txt')],
  ['PUT into a folder of at most two minutes', 200, 5, 7, () => storage.put('/Folder/Sub/new.txt', 'x')],
] as const)('%s answers %i after %i rounds and %i calls to S3', async (name, status, rounds, calls, ask) => {
  if (name.includes('quota')) await storage.stores.sites.setQuota(storage.site, 1_000, entry)
  await storage.makeFolder('/f')
  if (name.includes('450')) await putFolders(deep)
  await upload('/f', ['a.txt', 'a.html'])
  await upload('/Folder/Sub', ['a.txt', 'p.html'])
  if (name.includes('20 files')) await upload('/20', [...'abcdefghijklmnopqrst'])
  await storage.put('/f/old.txt', 'old')
  if (name.includes('two minutes')) age = 0
  tag = await storage.tagOf('/f/old.txt')
  const count = inRounds()
  expect((await ask()).status).toBe(status)
  expect(count).toEqual({ rounds, calls })
})

it.each([
  [1_000, 7, 6],
  [2_500, 10, 13],
])('DELETE of a folder of %i files needs %i rounds and %i calls', async (files, rounds, calls) => {
  const put = (name: string) =>
    s3.requestHandler.handle({ method: 'PUT', path: `/${bucket}/live/${storage.site}/f/${name}`, headers: {} })
  for (let file = 0; file < files; file += 1) await put(`${file}.txt`)
  await storage.makeFolder('/f')
  // The first listing that continues after a key also detects how the store compares names.
  await storage.stores.files.list({ prefix: 'live/', folded: false, limit: 1, after: 'live/' })
  const count = inRounds()
  expect((await storage.remove('/f')).status).toBe(200)
  expect(count).toEqual({ rounds, calls })
  expect(await storage.keys()).toEqual([])
})
