import { chmod, lstat, readdir, readFile, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { connect } from '../../client/src/index.ts'
import { asDemo, siteFiles, test } from './support/command.ts'
import { startProxy } from './support/proxy.ts'
import { readSite, readTree, writeTree } from './support/site.ts'

test('single files are stored, listed, printed, fetched, moved, copied, removed and restored (T-40, T-38)', async ({
  demo,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'ü 1.txt': 'one', 'two.txt': 'two' })
  expect(await demo('put', join(here, 'ü 1.txt'), join(here, 'two.txt'), `${folder}/`)).toMatchObject({ status: 0 })
  expect((await demo('ls', folder)).stdout).toBe('two.txt\nü 1.txt\n')
  expect((await demo('cat', `/${folder}//ü 1.txt`)).stdout).toBe('one')
  expect((await demo('cp', `${folder}/two.txt`, `${folder}/sub/`)).stdout).toBe(`${folder}/sub/two.txt\n`)
  expect((await demo('mv', `${folder}/two.txt`, `${folder}/three.txt`)).status).toBe(0)
  expect((await demo('ls', '-R', folder)).stdout).toBe('sub/two.txt\nthree.txt\nü 1.txt\n')
  expect((await demo('ls', '-l', `${folder}/three.txt`)).stdout).toMatch(/^\d{4}-.*Z {2} +3 bytes {2}three\.txt\n$/)
  expect((await demo('get', `${folder}/three.txt`, here)).status).toBe(0)
  expect(await readFile(join(here, 'three.txt'), 'utf8')).toBe('two')
  expect(await demo('get', `${folder}/three.txt`, here)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Add --force'),
  })
  expect((await demo('get', `${folder}/three.txt`, here, '--force')).status).toBe(0)
  expect(await readdir(here)).toStrictEqual(['three.txt', 'two.txt', 'ü 1.txt'])
  expect(JSON.parse((await demo('--json', 'rm', '--dry-run', `${folder}/sub`)).stdout)).toMatchObject({
    files: 1,
    bytes: 3,
    removed: false,
  })
  expect(await demo('rm', `${folder}/sub`)).toMatchObject({ status: 1, stderr: expect.stringContaining('Add --yes') })
  expect((await demo('rm', '--yes', `${folder}/sub`, `${folder}/three.txt`)).status).toBe(0)
  expect((await demo('ls', folder)).stdout).toBe('ü 1.txt\n')
  expect((await demo('restore', `${folder}/sub`)).status).toBe(0)
  expect((await demo('cat', `${folder}/sub/two.txt`)).stdout).toBe('two')
})

test('a file with a name of the maximum length is stored and fetched', async ({ demo, folder, makeDirectory }) => {
  const name = `${'n'.repeat(251)}.txt`
  const here = await makeDirectory({ [name]: 'long' })
  await demo('put', join(here, name), `${folder}/`)
  const there = await makeDirectory()
  expect(await demo('get', `${folder}/${name}`, there)).toMatchObject({ status: 0, stderr: '' })
  expect(await readTree(there)).toStrictEqual({ [name]: 'long' })
})

test('a file name in other case is another file, and a folder name in other case is the same folder', async ({
  demo,
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'one', 'A.txt': 'two' })
  await demo('put', join(here, 'A.txt'), `${folder}/News/`)
  expect((await demo('put', join(here, 'a.txt'), `${folder}/news`)).stdout).toBe(`${folder}/News/a.txt  3 bytes\n`)
  expect(await readSite(client, folder)).toStrictEqual({ 'News/A.txt': 'two', 'News/a.txt': 'one' })
  await client.files.remove(`${folder}/News/a.txt`)
  await expect(client.files.remove(`${folder}/News/a.txt`)).rejects.toMatchObject({
    code: 104001,
    message: expect.stringContaining(`"${folder}/News/A.txt". Use that spelling.`),
  })
  expect((await demo('rm', `${folder}/News/a.txt`)).status).toBe(1)
  expect(await readSite(client, folder)).toStrictEqual({ 'News/A.txt': 'two' })
})

test('several files go into a folder named in any case, and none replaces another', async ({
  demo,
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'b.txt': 'b', 'sub/a.txt': 'other' })
  await demo('put', join(here, 'a.txt'), `${folder}/News/`)
  expect((await demo('put', join(here, 'a.txt'), join(here, 'b.txt'), `${folder}/NEWS`)).status).toBe(0)
  expect(await demo('put', join(here, 'a.txt'), join(here, 'sub/a.txt'), `${folder}/News`)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('have the same name'),
  })
  expect(await readSite(client, folder)).toStrictEqual({ 'News/a.txt': 'a', 'News/b.txt': 'b' })
})

test('a command that needs the exact spelling names it', async ({ demo, folder, store }) => {
  await store({ 'News/A.txt': 'a' })
  const asked = [
    ['rm', `${folder}/news/a.txt`],
    ['rm', '--dry-run', `${folder}/NEWS`],
    ['rm', '--yes', `${folder}/NEWS`],
    ['versions', `${folder}/news/a.txt`],
    ['mv', `${folder}/news/a.txt`, 'x'],
  ]
  for (const args of asked) {
    expect(await demo(...args)).toMatchObject({ status: 1, stderr: expect.stringContaining('Use that spelling.') })
  }
})

test('a replacing file gets the mode of the old one, and a link to it stays a link', async ({
  demo,
  folder,
  store,
  makeDirectory,
}) => {
  await store({ 'a.txt': 'new' })
  const here = await makeDirectory({ 'a.txt': 'old' })
  await chmod(join(here, 'a.txt'), 0o600)
  await symlink('a.txt', join(here, 'link.txt'))
  expect((await demo('get', `${folder}/a.txt`, join(here, 'link.txt'), '--force')).status).toBe(0)
  expect((await lstat(join(here, 'link.txt'))).isSymbolicLink()).toBe(true)
  expect((await stat(join(here, 'a.txt'))).mode & 0o777).toBe(0o600)
  expect(await readFile(join(here, 'a.txt'), 'utf8')).toBe('new')
})

test('a mistyped path is refused before the first removal', async ({ demo, service }) => {
  const client = await connect({ url: service.baseUrl, token: service.token })
  await client.files.put('Layouts/a.html', 'a')
  const { stdout, status } = await demo('rm', '--dry-run', 'Layouts')
  expect({ stdout, status }).toStrictEqual({
    stdout: 'would be refused (104020)  Layouts: 1 file, 1 bytes\n',
    status: 0,
  })
  expect(await demo('rm', '--yes', '/')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('cannot be changed'),
  })
})

test('if one of several paths does not exist, it is named, and nothing is removed', async ({
  demo,
  client,
  folder,
  store,
}) => {
  await store({ 'a.txt': 'a', 'b.txt': 'b' })
  expect(await demo('rm', `${folder}/a.txt`, `${folder}/x.txt`, `${folder}/b.txt`)).toStrictEqual({
    status: 1,
    stdout: '',
    stderr: `This site has no "${folder}/x.txt". Check the path.\n`,
  })
  expect(await readSite(client, folder)).toStrictEqual({ 'a.txt': 'a', 'b.txt': 'b' })
})

test('earlier versions of a file are listed and restored', async ({ demo, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  await demo('put', join(here, 'a.txt'), `${folder}/`)
  await writeTree(here, { 'a.txt': 'two' })
  await demo('put', join(here, 'a.txt'), `${folder}/`)
  const lines = (await demo('--json', 'versions', `${folder}/a.txt`)).stdout.trim().split('\n')
  const [now, before] = lines.map((line) => JSON.parse(line))
  expect([now.current, before.current]).toStrictEqual([true, false])
  expect((await demo('restore', `${folder}/a.txt`, '--state', before.version)).stderr).toContain('(request ')
  expect((await demo('restore', `${folder}/a.txt`, '--state', before.version, '--replace')).status).toBe(0)
  expect((await demo('cat', `${folder}/a.txt`)).stdout).toBe('one')
})

test('a folder can be renamed to other case, like a file', async ({ demo, client, folder, store }) => {
  await store({ 'news/a.txt': 'a' })
  expect(await demo('mv', `${folder}/news`, `${folder}/News`)).toMatchObject({
    status: 0,
    stdout: `${folder}/News\n`,
  })
  expect(Object.keys(await readSite(client, folder))).toStrictEqual(['News/a.txt'])
  expect(await demo('mv', `${folder}/News`, `${folder}/News`)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('The new path is inside the folder'),
  })
})

test('put replaces a file, and names any other obstacle', async ({
  demo,
  service,
  client,
  folder,
  store,
  makeDirectory,
}) => {
  await store({ 'a.txt': 'old', 'b.txt/in': 'in a folder' })
  const here = await makeDirectory({ 'a.txt': 'new', 'b.txt': 'new' })
  expect((await demo('put', join(here, 'a.txt'), `${folder}/`)).status).toBe(0)
  expect(await demo('put', join(here, 'b.txt'), folder)).toStrictEqual({
    status: 3,
    stdout: '',
    stderr: `"${folder}/b.txt" is a folder of the site. Choose another path for the file.\n`,
  })
  const proxy = await startProxy(service.baseUrl, (method) => (method === 'PUT' ? 412 : 'pass'))
  try {
    const environment = { ...asDemo(service), SITE_ADMIN_URL: proxy.url }
    expect(await siteFiles(['put', join(here, 'a.txt'), `${folder}/`], environment)).toStrictEqual({
      status: 3,
      stdout: '',
      stderr: `"${folder}/a.txt" was changed by someone else in the meantime. Repeat the command to replace it.\n`,
    })
  } finally {
    await proxy.stop()
  }
  expect(await readSite(client, folder)).toStrictEqual({ 'a.txt': 'new', 'b.txt/in': 'in a folder' })
})

test('a pipe or a device is not stored as an empty file', async ({ demo, client, folder, store }) => {
  await store({ 'a.txt': 'a' })
  expect(await demo('put', '/dev/null', `${folder}/a.txt`)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('"/dev/null" is not a regular file'),
  })
  expect(await readSite(client, folder)).toStrictEqual({ 'a.txt': 'a' })
})
