import { appendFileSync, existsSync, promises, rmSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { connect, type Files } from '../../client/src/index.ts'
import { nodeFetch } from '../../client/src/node.ts'
import { LocalRefusal, push, type SyncEvent } from '../../client/src/sync/index.ts'
import { messages, phrase } from '../support/messages.ts'
import { asDemo, outcome, siteFiles } from './support/command.ts'
import { pathsOf, readTree, test, writeTree } from './support/site.ts'

/** Names of every kind that both a Unix disk and the service accept. */
const names = [
  ...['plain.txt', 'with space.txt', ' leading and trailing ', '# hash.txt', '100 %.txt', '%2e%2e.txt', 'what?.txt'],
  `quotes '"\`.txt`,
  'a+b&c=d;e.txt',
  '{braces} [brackets] |pipe|.txt',
  'über.txt',
  'Case.txt',
  'case.txt',
  'CASE/Case.txt',
  '😀/👩‍👩‍👧.txt',
  'ﷺ/نص.txt',
  '日本/語.html',
  '-dash',
  '~tilde',
  '$HOME',
  '*.txt',
  'deep/er/and/deeper/still/file.txt',
  'Templates2/index.html',
  `${'n'.repeat(251)}.txt`,
]
const tree = {
  ...Object.fromEntries(names.map((name) => [name, `This is ${name}`])),
  'empty.bin': '',
  'e\u0301 decomposed.txt': 'NFD',
}

test('a push and a pull transfer files with names of every kind (T-41, T-42)', async ({ makeDirectory, site }) => {
  const here = await makeDirectory(tree)
  const keep = names.length + 2
  expect(await site.push(here)).toMatchObject({ create: keep, failed: 0, conflict: 0 })
  expect(await site.texts()).toStrictEqual(await readTree(here))
  expect(await site.push(here)).toMatchObject({ create: 0, replace: 0, keep })

  const there = join(await makeDirectory(), 'new', 'folder')
  expect(await site.pull(there)).toMatchObject({ failed: 0, conflict: 0 })
  expect(await readTree(there)).toStrictEqual(await readTree(here))
})

test('a dry run of pull plans for a missing folder, and does not create it (T-41)', async ({ makeDirectory, site }) => {
  await site.store({ 'a.txt': 'a', 'b/c.txt': 'c' })
  const outside = await makeDirectory()
  const { events } = await site.pull(join(outside, 'new', 'folder'), { dryRun: true })
  expect(pathsOf(events, 'step')).toEqual(['a.txt', 'b/c.txt'])
  expect(await readdir(outside)).toEqual([])
})

test('a push creates no folder beside one in another case (T-68)', async ({ makeDirectory, site }) => {
  const here = await makeDirectory({ 'sub/News/a.txt': 'a', 'sub/NEWS/below/b.txt': 'b' })
  for (const path of ['other.txt', 'sub/News/a.txt']) {
    await site.put(path, 'a')
    await expect(site.push(here)).rejects.toThrow('would be two folders of the site')
    expect(Object.keys(await site.texts()).at(-1)).toBe(path)
  }
  await site.put('sub/NEWS/c.txt', 'c')
  expect(await site.push(here)).toMatchObject({ create: 1, failed: 0 })
})

test('a push reports a new folder that the service refuses, and sends the rest', async ({ makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'a', [`${'g'.repeat(250)}/b.txt`]: 'b' })
  const folder = Array(3).fill('f'.repeat(230)).join('/')
  expect(await site.push(here, { folder })).toMatchObject({ create: 1, failed: 1 })
})

test.for([
  ['ignored', 'Img/a.png', ['img/raw.psd']],
  ['empty', 'Img/a.png', ['img/a.png']],
  ['empty', 'sub/new/Img/a.png', ['sub/b.txt', 'sub/new/img/a.png']],
] as const)(
  'a push creates no folder beside an %s one in another case (T-68): %s',
  async (row, { makeDirectory, site }) => {
    const [kind, path, there] = row
    const here = await makeDirectory({ '.siteignore': '*.psd', [path]: 'a' })
    for (const each of there) await site.put(each, 'x')
    if (kind === 'empty') await site.remove(there.at(-1) ?? '')
    const before = await site.texts()
    await expect(site.push(here)).rejects.toThrow(LocalRefusal)
    expect(await site.texts()).toEqual(before)
  },
)

test('only a push with --delete replaces an empty folder with a file (T-43, T-52)', async ({ makeDirectory, site }) => {
  const here = await makeDirectory({ 'a/b.txt': 'b', 'c.txt': 'c' })
  await site.push(here)
  await site.remove('a/b.txt')
  await rm(join(here, 'a'), { recursive: true })
  await writeTree(here, { a: 'a file' })
  const refused = await site.push(here)
  const [conflict] = refused.events.filter(({ event }) => event === 'conflict')
  expect([refused.conflict, conflict]).toEqual([
    1,
    expect.objectContaining({ why: expect.stringMatching(phrase`^The folder …/a of the site is in the way.`) }),
  ])
  expect(await site.push(here, { removes: true })).toMatchObject({ create: 1, conflict: 0, failed: 0 })
  expect(await site.texts()).toEqual({ a: 'a file', 'c.txt': 'c' })
})

test('a push overwrites no file that was stored after its plan (T-47)', async ({ client, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'mine' })
  const put: typeof client.files.put = async (...given) => {
    await site.put('a.txt', 'theirs')
    await client.files.put(...given)
  }
  const { events, ...end } = await site.push(here, { client: site.withFiles({ put }) })
  expect(end).toMatchObject({ create: 0, conflict: 1, failed: 0 })
  expect(pathsOf(events, 'conflict')).toStrictEqual(['a.txt'])
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'theirs' })
})

test('a file that vanishes while its fingerprint is read is left out', async ({ client, makeDirectory, site }) => {
  await site.store({ 'a.txt': 'a', 'b.txt': 'b' })
  const here = await makeDirectory()
  // As on one machine, for large files directly after their upload (S-84).
  const listAll: Files['listAll'] = async function* (folder, signal) {
    for await (const file of client.files.listAll(folder, signal)) yield { ...file, fingerprint: null }
    await site.remove('a.txt')
  }
  const pulled = await site.pull(here, { client: site.withFiles({ listAll }) })
  expect(pulled).toMatchObject({ create: 1, failed: 0 })
  expect(await readTree(here)).toStrictEqual({ 'b.txt': 'b' })
})

test('a push does not create its folder again after its removal', async ({ client, folder, makeDirectory }) => {
  const directory = await makeDirectory({ 'a.txt': 'a' })
  const onEvent = ({ event }: SyncEvent) => event === 'plan' && rmSync(directory, { recursive: true })
  await expect(push({ client, folder, directory, onEvent })).rejects.toThrow('ENOENT')
  expect(existsSync(directory)).toBe(false)
})

test('a pull whose state is removed meanwhile still stores its next files', async ({ client, makeDirectory, site }) => {
  await site.store({ 'a.txt': 'a', 'b.txt': 'b' })
  const here = await makeDirectory()
  const read: Files['read'] = (path, options) => {
    if (path.endsWith('a.txt')) rmSync(join(here, '.site-files'), { recursive: true })
    return client.files.read(path, options)
  }
  const pulled = await site.pull(here, { client: site.withFiles({ read }), atOnce: 1 })
  expect(pulled).toMatchObject({ create: 1, failed: 1 })
})

test('without its saved state, a push still recognises equal files of any size', async ({ makeDirectory, site }) => {
  const [atOnce, part] = [256 * 1024, 8 * 1024 ** 2]
  const sizes = [0, 1, atOnce, atOnce + 1, part, part + 1]
  const here = await makeDirectory(Object.fromEntries(sizes.map((size) => [`${size}.bin`, 'x'.repeat(size)])))
  await site.push(here)
  await rm(join(here, '.site-files'), { recursive: true })
  const { events } = await site.push(here, { dryRun: true })
  expect(events.find(({ event }) => event === 'plan')).toMatchObject({ create: 0, replace: 0, conflict: 0, keep: 6 })
})

test('with a damaged state, files that differ are conflicts (T-46)', async ({ makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'one', 'b.txt': 'two' })
  const state = join(here, '.site-files')
  await site.push(here)
  await site.put('a.txt', 'theirs', { replace: true })
  await site.put('c.txt', 'theirs')
  for (const name of await readdir(state)) {
    const file = join(state, name)
    const stored = await readFile(file, 'utf8')
    const kept = JSON.parse(stored)
    const damaged = Object.keys(kept).flatMap((member) =>
      [5, [5], [['a.txt', null]]].map((value) => ({ ...kept, [member]: value })),
    )
    const isTarget = name.startsWith('target-')
    const expected = isTarget ? { conflict: 1, keep: 2 } : { conflict: 0, keep: 3 }
    for (const damage of ['', '{', 'null', '{"version":2}', ...damaged.map((value) => JSON.stringify(value))]) {
      await writeFile(file, damage)
      expect(await site.push(here, { removes: true })).toMatchObject({ ...expected, replace: 0, remove: 0, failed: 0 })
    }
    await writeFile(file, stored)
  }
})

test('a run flushes its state before it replaces the last state (T-46)', async ({
  makeDirectory,
  site,
  onTestFinished,
}) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  await using handle = await promises.open(join(here, 'a.txt'))
  const flushing = vi.spyOn(Object.getPrototypeOf(handle), 'sync')
  const renaming = vi.spyOn(promises, 'rename')
  syncBuiltinESMExports()
  onTestFinished(() => {
    flushing.mockRestore()
    renaming.mockRestore()
    syncBuiltinESMExports()
  })
  await site.push(here)
  expect(flushing.mock.invocationCallOrder[0]).toBeLessThan(renaming.mock.invocationCallOrder[0] ?? 0)
})

test('a push ignores the case of the names of folders on the site', async ({ folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'a' })
  const there = await makeDirectory()
  const odd = { folder: `${folder}/old/sites/1/storage` }
  await site.put('Old/sites/1/storage/a.txt', 'a')
  await site.pull(there, odd)
  await writeTree(there, { 'a.txt': 'b' })
  expect(await site.push(there, odd)).toMatchObject({ replace: 1, conflict: 0 })
  await site.remove('Old')
  await site.push(here, { folder: `${folder}/News` })
  await writeTree(here, { 'a.txt': 'b', 'c.txt': 'c' })
  const end = await site.push(here, { folder: `${folder}/news` })
  expect(end).toMatchObject({ replace: 1, create: 1, conflict: 0 })
  await site.push(here, { folder: `${folder}/NEWS/sub` })
  const paths = ['News/a.txt', 'News/c.txt', 'News/sub/a.txt', 'News/sub/c.txt']
  expect(Object.keys(await site.texts())).toStrictEqual(paths)
})

test('a file that grows during its upload is not stored', async ({ service, folder, makeDirectory, site, proxied }) => {
  // The file is larger than the buffers of the system.
  const here = await makeDirectory({ 'large.bin': 'x'.repeat(24_000_000), 'small.txt': 'small' })
  const location = join(here, 'large.bin')
  const baseUrl = await proxied((method) => {
    if (method === 'PATCH') appendFileSync(location, 'more')
    return 'pass'
  })
  const slow = await connect({ url: baseUrl, token: service.token, fetch: nodeFetch })
  expect(await site.push(here, { client: slow, atOnce: 1 })).toMatchObject({ create: 1, failed: 1 })
  const printed = await siteFiles(['put', location, `${folder}/`], asDemo({ ...service, baseUrl }))
  expect(printed).toMatchObject(outcome(1, messages.client.changedDuringUpload))
  await expect(site.stat('large.bin')).rejects.toMatchObject({ status: 404 })
})
