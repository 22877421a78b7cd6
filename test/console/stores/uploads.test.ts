import { expect, test, vi } from 'vitest'
import { type Files, ServiceError } from '../../../client/src/index.ts'
import { messageOf } from '../../../console/parts/failure.tsx'
import { texts } from '../../../console/texts/texts.ts'
import { fromDrop } from '../../../console/uploads/dropped.ts'
import { createKeptUploads } from '../../../console/uploads/kept-uploads.ts'
import { match, resumeInterrupted } from '../../../console/uploads/resume-interrupted.ts'
import { runningFirst } from '../../../console/uploads/upload-list.ts'
import { createUploads, type Uploads } from '../../../console/uploads/uploads.ts'
import { siteOf } from '../support/site.ts'

const fileOf = (path: string, size = 10, lastModified = 1) => {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { path, file: new File([new Uint8Array(size)], name, { lastModified }) }
}
const kept = (...paths: string[]) => paths.map((path) => ({ path, size: 10, modified: 1 }))
const given = (...paths: string[]) => ({ files: paths.map((path) => fileOf(path)), emptyFolders: [] })
const refusal = (status: number, code: number) => new ServiceError({ status, code, message: `Refused with ${code}.` })
const stages = (uploads: Uploads) => uploads.all.value.map(({ path, stage }) => `${path} ${stage}`)

/** The storage of a tab, which survives a reload. */
const createTab = (memory = new Map<string, string>()) => ({
  getItem: (key: string) => memory.get(key) ?? null,
  setItem: (key: string, value: string) => void memory.set(key, value),
  removeItem: (key: string) => void memory.delete(key),
})

const create = (files: Partial<Files>, tab = createTab(), options: Partial<Parameters<typeof createUploads>[0]> = {}) =>
  createUploads({ client: () => siteOf(files), kept: createKeptUploads(tab, 1), now: () => 0, ...options })

/** A site where each upload waits until the test ends it. */
const heldSite = () => {
  const open = new Map<string, PromiseWithResolvers<void> & { readonly options: Parameters<Files['put']>[2] }>()
  const put: Files['put'] = (path, _, options) => {
    const held = { ...Promise.withResolvers<void>(), options }
    open.set(path, held)
    options?.signal?.addEventListener('abort', () => held.reject(options.signal?.reason))
    return held.promise
  }
  return { files: { put, cancel: async () => {} }, open }
}

test('three uploads run at a time, and running uploads are shown first (K-8)', async () => {
  const { files, open } = heldSite()
  const uploads = create(files)
  uploads.add(given('a', 'b', 'c', 'd'), 'x')
  expect([...open.keys()]).toEqual(['x/a', 'x/b', 'x/c'])
  open.get('x/b')?.resolve()
  await vi.waitFor(() => expect(open.has('x/d')).toBe(true))
  expect(stages(uploads)).toEqual(['x/a sending', 'x/b done', 'x/c sending', 'x/d sending'])
  expect(runningFirst(uploads.all.value).map(({ path }) => path)).toEqual(['x/a', 'x/c', 'x/d', 'x/b'])
})

const { file: readable } = fileOf('a')
const resolveFile = (resolve: (file: File) => void) => resolve(readable)
const droppedFile = (fullPath: string, file: unknown = resolveFile) => ({ isFile: true, fullPath, file })
const droppedFolder = (fullPath: string, readEntries: unknown) => {
  return { isDirectory: true, fullPath, createReader: () => ({ readEntries }) }
}
const inPortions =
  (...portions: object[][]) =>
  (resolve: (entries: readonly object[]) => void) =>
    resolve(portions.shift() ?? [])
const drop = (folder: object) => fromDrop({ items: [{ webkitGetAsEntry: () => folder }] } as unknown as DataTransfer)

test('a dropped folder may have 200,000 files, which arrive in portions of any size', async () => {
  const entries = Array.from({ length: 200_000 }, (_, index) => droppedFile(`/photos/${index}`))
  const folder = droppedFolder('/photos', inPortions(entries, [droppedFolder('/photos/old', inPortions())]))
  const { files, emptyFolders } = await drop(folder)
  expect([files.length, files.at(-1)?.path, emptyFolders]).toEqual([200_000, 'photos/199999', ['photos/old']])
})

test('a file that the device cannot read does not stop the rest of a drop (K-8)', async () => {
  const refuse = (_: unknown, reject: (error: Error) => void) => reject(new Error('Denied.'))
  const unreadable = [droppedFile('/photos/locked.jpg', refuse), droppedFolder('/photos/private', refuse)]
  const folder = droppedFolder('/photos', inPortions([...unreadable, droppedFile('/photos/a.jpg')]))
  const { files, emptyFolders, failed } = await drop(folder)
  expect([files.map(({ path }) => path), emptyFolders]).toEqual([['photos/a.jpg'], []])
  expect(failed.map(({ path }) => path)).toEqual(['photos/locked.jpg', 'photos/private'])
})

test('an action can apply to all of 50,000 uploads', () => {
  const { files } = heldSite()
  const uploads = create(files)
  const { file } = fileOf('a')
  uploads.add(
    { files: Array.from({ length: 50_000 }, (_, index) => ({ path: `${index}`, file })), emptyFolders: [] },
    '',
  )
  uploads.pause()
  expect(uploads.all.value.every(({ stage }) => stage === 'paused')).toBe(true)
  uploads.resume()
  expect(uploads.all.value.filter(({ stage }) => stage === 'sending')).toHaveLength(3)
  expect(uploads.totals.value).toEqual({ sent: 0, bytes: 500_000, done: 0, open: 50_000 })
  uploads.cancel()
  expect(uploads.all.value).toEqual([])
})

test('an answer for all files applies only to later collisions of the same upload', async () => {
  const there = new Set(['a', 'b', 'late'])
  const gate = Promise.withResolvers<void>()
  const files: Partial<Files> = {
    async put(path, _, { replace } = {}) {
      if (path === 'late' && !replace) await gate.promise
      if (there.has(path) && !replace) throw refusal(412, 100412)
    },
  }
  const uploads = create(files)
  uploads.add(given('a', 'new', 'late'), '')
  uploads.add(given('b'), '')
  await vi.waitFor(() => expect(stages(uploads)).toEqual(['a asking', 'new done', 'late sending', 'b asking']))
  uploads.answer(uploads.question.value?.id ?? 0, 'replace', true)
  gate.resolve()
  await vi.waitFor(() => expect(stages(uploads)).toEqual(['a done', 'new done', 'late done', 'b asking']))
})

test('skipping all files skips no name that is taken only in another case', async () => {
  const gate = Promise.withResolvers<void>()
  const uploads = create({
    async put(path) {
      if (['b', 'c', 'd'].includes(path)) await gate.promise
      if (path !== 'E') throw refusal(412, 100412)
    },
    stat: async (path) => ({ name: path.toLowerCase(), type: 'file', size: 1, lastModified: null, links: [] }),
  })
  uploads.add(given('a', 'b', 'c', 'd', 'e', 'E'), '')
  await vi.waitFor(() => expect(uploads.question.value?.path).toBe('a'))
  uploads.answer(uploads.question.value?.id ?? 0, 'skip', true)
  gate.resolve()
  await vi.waitFor(() => expect(stages(uploads).slice(3)).toEqual(['d skipped', 'e skipped', 'E done']))
})

test('an upload says that a name is taken when a folder has the name of its file', async () => {
  const uploads = create({ put: () => Promise.reject(refusal(412, 100412)) })
  uploads.add(given('a'), '')
  await vi.waitFor(() => expect(stages(uploads)).toEqual(['a asking']))
  uploads.answer(uploads.question.value?.id ?? 0, 'replace', false)
  await vi.waitFor(() => expect(stages(uploads)).toEqual(['a failed']))
  expect(messageOf(uploads.all.value[0]?.error)).toBe(texts.value.nameTaken)
})

test('after a reload, uploads continue only with the same files', () => {
  const memory = new Map<string, string>()
  const before = heldSite()
  const left = create(before.files, createTab(memory))
  left.add(given('photos/a', 'photos/b'), 'x')
  before.open.get('x/photos/a')?.options?.onBegun?.('https://example.com/uploads/1')

  const after = heldSite()
  const uploads = create(after.files, createTab(memory))
  expect(uploads.interrupted.value.map(({ path }) => path)).toEqual(['x/photos/a', 'x/photos/b'])
  expect(resumeInterrupted(uploads, { files: [fileOf('a', 10, 2), fileOf('b', 11)], emptyFolders: [] })).toBe(2)
  expect(resumeInterrupted(uploads, { files: [fileOf('a')], emptyFolders: [] })).toBe(1)
  expect(after.open.get('x/photos/a')?.options?.resume).toBe('https://example.com/uploads/1')
  expect(uploads.interrupted.value.map(({ path }) => path)).toEqual(['x/photos/b'])
  uploads.forgetInterrupted()
  uploads.cancel()
  expect(create(after.files, createTab(memory)).interrupted.value).toEqual([])
})

test('files with the same name and size are distinguished by their folders', () => {
  const tab = createTab()
  create(heldSite().files, tab).add(given('photos/a/1.bin', 'photos/b/1.bin'), 'x')
  const after = heldSite()
  const uploads = create(after.files, tab)
  expect(resumeInterrupted(uploads, { files: [fileOf('1.bin')], emptyFolders: [] })).toBe(2)
  expect(resumeInterrupted(uploads, { files: [fileOf('photos/b/1.bin')], emptyFolders: [] })).toBe(1)
  expect([...after.open.keys()]).toEqual(['x/photos/b/1.bin'])
  const [b, a] = [fileOf('photos/b/1.bin'), fileOf('photos/a/1.bin')]
  expect(match(kept('x/photos/a/1.bin', 'x/photos/b/1.bin'), [b, a]).found.map(({ file }) => file)).toEqual([
    a.file,
    b.file,
  ])
})

test('a file is found among 200,000 files that differ only in their folders', () => {
  const { file } = fileOf('1.bin')
  const others = Array.from({ length: 200_000 }, (_, index) => ({ path: `photos/${index}/1.bin`, file }))
  expect(match(kept('x/photos/77/1.bin'), others).found).toHaveLength(1)
})

test('at most four empty folders are created at once, and failures can be repeated', async () => {
  const gate = Promise.withResolvers<void>()
  let [now, most] = [0, 0]
  let isDown = true
  const repeats: (() => void)[] = []
  const made: string[] = []
  const createFolder = async (path: string) => {
    now++
    most = Math.max(most, now)
    await gate.promise
    now--
    if (isDown && path === 'x/7') throw refusal(507, 100507)
    made.push(path)
  }
  const uploads = create({ createFolder }, createTab(), {
    onFolderFailure: (path, _, repeat) => {
      expect(path).toBe('x/7')
      repeats.push(repeat)
    },
  })
  uploads.add({ files: [], emptyFolders: Array.from({ length: 20 }, (_, index) => String(index)) }, 'x')
  gate.resolve()
  await vi.waitFor(() => expect(repeats).toHaveLength(1))
  expect([most, made.length]).toEqual([4, 19])
  isDown = false
  repeats[0]?.()
  await vi.waitFor(() => expect(made).toContain('x/7'))
})

test('invalid saved data of a tab is ignored', () => {
  const tab = createTab(new Map([['site-admin-uploads-1', '[{"path":1},null,{"path":"a","size":1,"modified":2}]']]))
  expect(create({}, tab).interrupted.value).toEqual([{ path: 'a', size: 1, modified: 2 }])
  expect(create({}, createTab(new Map([['site-admin-uploads-1', '{']]))).interrupted.value).toEqual([])
})

test('a file with a number continues under it, also after a reload (K-9)', async () => {
  const asked: string[] = []
  const held: Partial<Files> = {
    async put(path, _, { signal, resume, onBegun } = {}) {
      asked.push(`${path} ${resume}`)
      if (!resume && path !== 'a (3).bin') throw refusal(412, 100412)
      onBegun?.('there')
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    },
  }
  const tab = createTab()
  const uploads = create(held, tab)
  uploads.add(given('a.bin'), '')
  await vi.waitFor(() => expect(uploads.question.value?.path).toBe('a.bin'))
  uploads.answer(uploads.question.value?.id ?? 0, 'both', false)
  await vi.waitFor(() => expect(asked.at(-1)).toBe('a (3).bin undefined'))
  uploads.pause()
  uploads.resume()
  await vi.waitFor(() => expect(asked.at(-1)).toBe('a (3).bin there'))
  const reloaded = create({ put: async (path, _, options) => void asked.push(`${path} ${options?.resume} again`) }, tab)
  expect(resumeInterrupted(reloaded, given('a.bin'))).toBe(0)
  await vi.waitFor(() => expect(stages(reloaded)).toEqual(['a (3).bin done']))
  expect(asked.at(-1)).toBe('a (3).bin there again')
})

test('a file whose numbered name is taken during a pause gets the next number (K-9)', async () => {
  const asked: string[] = []
  const taken = new Set(['a.bin'])
  const uploads = create({
    async put(path, _, { signal, resume, onBegun } = {}) {
      asked.push(`${path} ${resume}`)
      if (path === 'a (3).bin') return
      if (taken.has(path)) throw refusal(412, 100412)
      onBegun?.('there')
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  uploads.add(given('a.bin'), '')
  await vi.waitFor(() => expect(uploads.question.value?.path).toBe('a.bin'))
  uploads.answer(uploads.question.value?.id ?? 0, 'both', false)
  await vi.waitFor(() => expect(asked.at(-1)).toBe('a (2).bin undefined'))
  uploads.pause()
  taken.add('a (2).bin')
  uploads.resume()
  await vi.waitFor(() => expect(stages(uploads)).toEqual(['a (3).bin done']))
  expect(asked.slice(2)).toEqual(['a (2).bin there', 'a (2).bin undefined', 'a (3).bin undefined'])
})

test('a question about a taken name is about the file that an answer replaces (K-9)', async () => {
  const tab = createTab()
  const left = { path: 'a.bin', size: 10, modified: 1, address: 'there', storedAs: 'a (2).bin' }
  tab.setItem('site-admin-uploads-1', JSON.stringify([left]))
  const replaced: string[] = []
  const uploads = create(
    {
      async put(path, _, { replace } = {}) {
        if (!replace) throw refusal(412, 100412)
        replaced.push(path)
      },
    },
    tab,
  )
  resumeInterrupted(uploads, given('a.bin'))
  await vi.waitFor(() => expect(uploads.question.value?.path).toBe('a.bin'))
  uploads.answer(uploads.question.value?.id ?? 0, 'replace', false)
  await vi.waitFor(() => expect(replaced).toEqual(['a.bin']))
})

test('an upload that failed gives up its bytes when the list is cleared', async () => {
  const { files, open } = heldSite()
  const ended: string[] = []
  const uploads = create({ ...files, cancel: async (address) => void ended.push(address) })
  uploads.add(given('a', 'b'), '')
  for (const path of ['a', 'b']) open.get(path)?.options?.onBegun?.(`of ${path}`)
  open.get('a')?.reject(refusal(507, 100507))
  open.get('b')?.resolve()
  await vi.waitFor(() => expect(stages(uploads)).toEqual(['a failed', 'b done']))
  uploads.clear()
  expect([ended, uploads.all.value]).toEqual([['of a'], []])
})

test('uploads continue after an outage or a new sign-in, but not after a refusal', async () => {
  const { files, open } = heldSite()
  const tab = createTab()
  const uploads = create(files, tab)
  const fail = async (...errors: readonly [path: string, error: ServiceError][]) => {
    for (const [path, error] of errors) open.get(path)?.reject(error)
    await vi.waitFor(() => expect(uploads.all.value.every(({ stage }) => stage === 'failed')).toBe(true))
  }
  uploads.add(given('a', 'b', 'c'), '')
  open.get('a')?.options?.onBegun?.('https://example.com/uploads/1')
  const unreachable = new ServiceError({ status: 0, code: 0, message: 'No answer came.' })
  await fail(['a', refusal(401, 101000)], ['b', unreachable], ['c', refusal(507, 100507)])
  expect(create({}, tab).interrupted.value.map(({ path }) => path)).toEqual(['a', 'b', 'c'])
  uploads.renew()
  expect(stages(uploads)).toEqual(['a sending', 'b sending', 'c failed'])
  expect(open.get('a')?.options?.resume).toBe('https://example.com/uploads/1')
  await fail(['a', refusal(503, 100503)], ['b', refusal(400, 104005)])
  uploads.renew()
  expect(stages(uploads)).toEqual(['a sending', 'b failed', 'c failed'])
})

test('an upload names its missing or changed file as the cause, not the network (K-8)', async () => {
  const { files, open } = heldSite()
  const uploads = create(files)
  const { file } = fileOf('a')
  const gone = () => Promise.reject(new DOMException('The file was not found.', 'NotFoundError'))
  file.slice = () => Object.assign(new Blob(), { arrayBuffer: gone })
  uploads.add({ files: [{ path: 'a', file }], emptyFolders: [] }, '')
  open.get('a')?.reject(new ServiceError({ status: 0, code: 0, message: 'No answer came.' }))
  await vi.waitFor(() => expect(stages(uploads)).toEqual(['a failed']))
  expect(messageOf(uploads.all.value[0]?.error)).toBe(texts.value.unreadable)
})

test('the shown rate of an upload is the average of the last seconds', () => {
  let time = 0
  const { files, open } = heldSite()
  const uploads = create(files, createTab(), { now: () => time })
  uploads.add({ files: [fileOf('a', 100_000)], emptyFolders: [] }, '')
  const tell = (at: number, sent: number) => {
    time = at
    open.get('a')?.options?.onProgress?.({ sent, total: 100_000 })
  }
  tell(0, 0)
  tell(2000, 20_000)
  expect(uploads.rate.value).toBe(10_000)
  tell(20_000, 21_000)
  tell(22_000, 61_000)
  expect(uploads.rate.value).toBe(20_000)
})
