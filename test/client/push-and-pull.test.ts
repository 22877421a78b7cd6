import { appendFileSync } from 'node:fs'
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { connect } from '../../client/src/index.ts'
import { nodeFetch } from '../../client/src/node.ts'
import { pull, push } from '../../client/src/sync/index.ts'
import { asDemo, siteFiles } from './support/command.ts'
import { startProxy } from './support/proxy.ts'
import { pathsOf, readSite, readTree, reported, test, writeTree } from './support/site.ts'

/** Names of every kind that both a Unix disk and the service accept. */
const names = [
  'plain.txt',
  'with space.txt',
  ' leading and trailing ',
  '# hash.txt',
  '100 %.txt',
  '%2e%2e.txt',
  'what?.txt',
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
]
const tree = {
  ...Object.fromEntries(names.map((name) => [name, `This is ${name}`])),
  'empty.bin': '',
  'e\u0301 decomposed.txt': 'NFD',
}

test('a folder with names of every kind is equal on both sides after a push, and after a pull (T-41, T-42)', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory(tree)
  await writeFile(join(here, 'large.bin'), Buffer.alloc(20_000_000, 'large file '))
  const first = await reported(push, { client, directory: here, folder })
  expect(first.end).toMatchObject({ create: names.length + 3, failed: 0, conflict: 0 })
  expect(await readSite(client, folder)).toStrictEqual(await readTree(here))
  const again = await reported(push, { client, directory: here, folder })
  expect(again.end).toMatchObject({ create: 0, replace: 0, keep: names.length + 3 })

  const there = join(await makeDirectory(), 'new', 'folder')
  expect((await reported(pull, { client, directory: there, folder })).end).toMatchObject({ failed: 0, conflict: 0 })
  expect(await readTree(there)).toStrictEqual(await readTree(here))
})

test('changes of different files reach both people, and changes of one file are a conflict until force (T-46)', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const ann = await makeDirectory({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' })
  await push({ client, directory: ann, folder })
  const bob = await makeDirectory()
  await pull({ client, directory: bob, folder })
  await writeTree(ann, { 'a.txt': 'a of Ann', 'c.txt': 'c of Ann' })
  await push({ client, directory: ann, folder })
  await writeTree(bob, { 'b.txt': 'b of Bob', 'c.txt': 'c of Bob' })

  const pushed = await reported(push, { client, directory: bob, folder })
  expect(pushed.end).toMatchObject({ replace: 1, conflict: 1 })
  expect(pushed.events).toContainEqual({ event: 'step', action: 'keep', path: 'a.txt', size: 1, why: 'newer' })
  expect(pathsOf(pushed.events, 'step')).toStrictEqual(['a.txt', 'c.txt'])
  expect(await readSite(client, folder)).toStrictEqual({
    'a.txt': 'a of Ann',
    'b.txt': 'b of Bob',
    'c.txt': 'c of Ann',
  })

  expect((await reported(pull, { client, directory: bob, folder })).end).toMatchObject({ replace: 1, conflict: 1 })
  expect(await readTree(bob)).toStrictEqual({ 'a.txt': 'a of Ann', 'b.txt': 'b of Bob', 'c.txt': 'c of Bob' })
  expect((await reported(push, { client, directory: bob, folder, force: true })).end).toMatchObject({
    replace: 1,
    conflict: 0,
  })
  await pull({ client, directory: ann, folder })
  expect(await readTree(ann)).toStrictEqual(await readTree(bob))
})

test('a local removal is pushed only with removal on, and not if the folder is empty (T-43, T-50)', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'b/c.txt': 'c' })
  await push({ client, directory: here, folder })
  await rm(join(here, 'b'), { recursive: true })
  expect((await reported(push, { client, directory: here, folder })).end).toMatchObject({ remove: 0, keep: 2 })
  const asked: (readonly string[])[] = []
  const confirm = async (paths: readonly string[]) => asked.push(paths) === 2
  await reported(push, { client, directory: here, folder, removes: true, confirm })
  expect(Object.keys(await readSite(client, folder))).toStrictEqual(['a.txt', 'b/c.txt'])
  await reported(push, { client, directory: here, folder, removes: true, confirm })
  expect(asked).toStrictEqual([['b/c.txt'], ['b/c.txt']])
  expect(Object.keys(await readSite(client, folder))).toStrictEqual(['a.txt'])

  await rm(join(here, 'a.txt'))
  await expect(push({ client, directory: here, folder, removes: true, force: true })).rejects.toThrow('has no files')
  expect(Object.keys(await readSite(client, folder))).toStrictEqual(['a.txt'])
})

test('a removal on the site is pulled only with removal on, with the folders that become empty', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'b/c/d.txt': 'd' })
  await push({ client, directory: here, folder })
  await client.files.remove(`${folder}/b`)
  expect((await reported(pull, { client, directory: here, folder })).end).toMatchObject({ remove: 0 })
  expect((await reported(pull, { client, directory: here, folder, removes: true })).end).toMatchObject({ remove: 1 })
  expect(await readTree(here)).toStrictEqual({ 'a.txt': 'a' })
  await expect(readFile(join(here, 'b'))).rejects.toThrow('ENOENT')
})

test('two names that differ only in the Unicode form of their accents stay separate', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'e\u0301.txt': 'decomposed', '\u00e9.txt': 'composed' })
  const { end, events } = await reported(push, { client, directory: here, folder })
  expect(end).toMatchObject({ create: 1 })
  expect(pathsOf(events, 'skipped')).toStrictEqual(['\u00e9.txt'])
})

test('a file that someone stores between plan and write is not overwritten (T-47)', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'mine' })
  const put: typeof client.files.put = async (...given) => {
    await client.files.put(`${folder}/a.txt`, 'theirs')
    await client.files.put(...given)
  }
  const slow = { ...client, files: { ...client.files, put } }
  const { end, events } = await reported(push, { client: slow, directory: here, folder })
  expect(end).toMatchObject({ create: 0, conflict: 1, failed: 0 })
  expect(pathsOf(events, 'conflict')).toStrictEqual(['a.txt'])
  expect(await readSite(client, folder)).toStrictEqual({ 'a.txt': 'theirs' })
})

test('a change that keeps the size of a file is sent', async ({ client, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  await push({ client, directory: here, folder })
  await writeTree(here, { 'a.txt': 'two' })
  await utimes(join(here, 'a.txt'), 1, 1)
  expect((await reported(push, { client, directory: here, folder })).end).toMatchObject({ replace: 1 })
})

test('files of any size are recognised as equal without remembered state', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const [atOnce, part] = [256 * 1024, 8 * 1024 ** 2]
  const sizes = [0, 1, atOnce, atOnce + 1, part, part + 1]
  const here = await makeDirectory(Object.fromEntries(sizes.map((size) => [`${size}.bin`, 'x'.repeat(size)])))
  await push({ client, directory: here, folder })
  await rm(join(here, '.site-files'), { recursive: true })
  const { events } = await reported(push, { client, directory: here, folder, dryRun: true })
  expect(events.find(({ event }) => event === 'plan')).toMatchObject({ create: 0, replace: 0, conflict: 0, keep: 6 })
})

test('a damaged state counts as none', async ({ client, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  const state = join(here, '.site-files')
  await push({ client, directory: here, folder })
  for (const name of await readdir(state)) {
    const kept = JSON.parse(await readFile(join(state, name), 'utf8'))
    const damaged = Object.keys(kept).flatMap((member) => [5, [5]].map((value) => ({ ...kept, [member]: value })))
    for (const damage of ['', '{', 'null', '{"version":2}', ...damaged.map((value) => JSON.stringify(value))]) {
      await writeFile(join(state, name), damage)
      expect((await reported(push, { client, directory: here, folder })).end).toMatchObject({ failed: 0 })
    }
  }
})

test('a dry run reports the plan, and changes nothing (T-41)', async ({ client, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'b.txt': 'b' })
  await client.files.put(`${folder}/b.txt`, 'other')
  await client.files.put(`${folder}/c.txt`, 'extra')
  const { events } = await reported(push, { client, directory: here, folder, dryRun: true, removes: true })
  expect(events.filter(({ event }) => event === 'step')).toStrictEqual([
    { event: 'step', action: 'create', path: 'a.txt', size: 1 },
    { event: 'step', action: 'replace', path: 'b.txt', size: 1 },
    { event: 'step', action: 'remove', path: 'c.txt', size: 5 },
  ])
  expect(await readSite(client, folder)).toStrictEqual({ 'b.txt': 'other', 'c.txt': 'extra' })
  expect(Object.keys(await readTree(here))).toStrictEqual(['a.txt', 'b.txt'])
})

test('a folder of the site is found in other case, and its files are written there', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'a' })
  const odd = { client, directory: await makeDirectory(), folder: `${folder}/old/sites/1/storage` }
  await client.files.put(`${folder}/Old/sites/1/storage/a.txt`, 'a')
  await pull(odd)
  await writeTree(odd.directory, { 'a.txt': 'b' })
  expect(await push(odd)).toMatchObject({ replace: 1, conflict: 0 })
  await client.files.remove(`${folder}/Old`)
  await push({ client, directory: here, folder: `${folder}/News` })
  await writeTree(here, { 'a.txt': 'b', 'c.txt': 'c' })
  expect((await reported(push, { client, directory: here, folder: `${folder}/news` })).end).toMatchObject({
    replace: 1,
    create: 1,
    conflict: 0,
  })
  expect(Object.keys(await readSite(client, folder))).toStrictEqual(['News/a.txt', 'News/c.txt'])
})

test('a large file that changes during its upload is not placed', async ({
  service,
  client,
  folder,
  makeDirectory,
}) => {
  // More than any system buffers.
  const here = await makeDirectory({ 'large.bin': 'x'.repeat(64_000_000) })
  const location = join(here, 'large.bin')
  const proxy = await startProxy(service.baseUrl, (method) => {
    if (method === 'PATCH') appendFileSync(location, 'more')
    return 'pass'
  })
  try {
    const slow = await connect({ url: proxy.url, token: service.token, fetch: nodeFetch })
    expect(await push({ client: slow, directory: here, folder })).toMatchObject({ create: 0, failed: 1 })
    expect(
      await siteFiles(['put', location, `${folder}/`], { ...asDemo(service), SITE_ADMIN_URL: proxy.url }),
    ).toMatchObject({ status: 1, stderr: expect.stringContaining('changed during the upload') })
  } finally {
    await proxy.stop()
  }
  await expect(client.files.stat(`${folder}/large.bin`)).rejects.toMatchObject({ status: 404 })
})
