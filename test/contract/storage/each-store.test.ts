import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, expect, it, vi } from 'vitest'
import type { SiteId } from '../../../lib/core/ids.ts'
import { findInTrash } from '../../../lib/storage/changes/restore.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import { entry } from '../../support/history.ts'
import { infoOf, putObject } from '../../support/objects.ts'
import { openStorageOnAws } from './hands.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

// Rules that apply to only one of the two stores.

afterEach(() => vi.useRealTimers())

it.each([
  ['on one machine keeps its time', openStorage, '2026-01-01T00:00:00.000Z'],
  ['in S3 has the time of the move', openStorageOnAws, '2026-01-02T00:00:00.000Z'],
])('A file that is moved %s (S-107)', async (_, open, expected) => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01T00:00:00Z') })
  const storage: StorageUnderTest = await open()
  await storage.put('/a.txt')
  vi.setSystemTime(new Date('2026-01-02T00:00:00Z'))
  expect((await storage.rename('/a.txt', 'b.txt')).status).toBe(200)
  expect((await storage.get('/b.txt', { meta: '' })).json.lastModified).toBe(expected)
})

it('If a process dies in a form on S3, a repetition stores all files (S-31)', async () => {
  const bucket = openBucketInMemory()
  const { handle } = bucket.s3.requestHandler
  let placed = 0
  bucket.s3.requestHandler.handle = async (request, options) => {
    const isPlacing = request.method === 'PUT' && request.path.includes('/live/')
    if (placed === 2) throw new Error('The process has died')
    if (isPlacing && !request.path.endsWith('/')) placed += 1
    return handle(request, options)
  }
  const storage = await openStorageOnAws({ bucket })
  const files = ['a', 'b', 'c', 'd'].map((name) => ({ name, content: name.repeat(1_000) }))
  const texts = () => Promise.all(files.map(({ name }) => storage.read(`/form/${name}`)))
  expect((await storage.post('/form', files)).status).toBeGreaterThanOrEqual(500)
  placed = Number.NaN
  const left = (await texts()).filter((text) => text !== 404)
  expect(left.length).toBeGreaterThan(0)
  expect(files.map(({ content }) => content)).toEqual(expect.arrayContaining(left))
  expect((await storage.post('/form', files)).status).toBe(200)
  expect(await texts()).toEqual(files.map(({ content }) => content))
})

it('On one machine, the files of a form or restore appear together (S-32)', async () => {
  const storage = await openStorage()
  const names = ['a', 'b', 'c', 'd']
  const files = names.map((name) => ({ name, content: name.repeat(name < 'c' ? 10 : 40_000) }))
  for (const change of [() => storage.post('/form', files), () => storage.restore('/form')]) {
    const changed = change()
    let found: readonly unknown[] = []
    for (; found.length === 0; await turn()) found = (await storage.get('/form', { meta: '' })).json.contents ?? []
    expect(found).toHaveLength(files.length)
    expect((await changed).status).toBe(200)
    await storage.remove('/form')
  }
})

it('A folder without an object is in the trash if a file below it is (H-37)', async () => {
  const files = openObjectStore(openBucketInMemory())
  const find = () =>
    findInTrash({ files, removals: { lastOf: async () => [] } }, 1001 as SiteId, toStoragePath('folder'), 'folder')
  expect(await find()).toBeUndefined()
  await putObject(files, 'live/1001/folder/file')
  expect(await find()).toBeUndefined()
  await files.remove([await infoOf(files, 'live/1001/folder/file')], { entry })
  expect(await find()).toMatchObject({ size: null })
})

it.each([
  ['moved', ({ rename }: StorageUnderTest) => rename('/folder', 'moved'), ['other']],
  ['removed again', ({ remove }: StorageUnderTest) => remove('/folder'), ['folder', 'other']],
])('The trash has no old removal of a folder without an object that was %s (H-37)', async (_, change, expected) => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01T00:00:00Z') })
  const storage = await openStorageOnAws({ bucket: openBucketInMemory() })
  for (const [names, act] of [
    [['folder/a', 'folder/b'], () => storage.remove('/folder')],
    [['other'], () => storage.remove('/other')],
    [['folder/b'], () => change(storage)],
  ] as const) {
    await storage.fill(names.map((name) => `live/1001/${name}`))
    expect((await act()).status).toBe(200)
    vi.setSystemTime(Date.now() + 60_000)
  }
  const paths: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const query = { deleted: 'all', limit: '1', ...(cursor && { cursor }) }
    const page: { deleted: { path: string }[]; nextCursor?: string } = (await storage.get('', query)).json
    paths.push(...page.deleted.map(({ path }) => path))
    cursor = page.nextCursor
  }
  expect(paths).toEqual(expected)
})
