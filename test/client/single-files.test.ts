import { chmod, lstat, readdir, readFile, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { messages, phrase } from '../support/messages.ts'
import { asDemo, eventsIn, outcome, siteFiles, test } from './support/command.ts'
import { writeTree } from './support/site.ts'

test('single files are stored, fetched, moved and restored (T-40, T-38)', async ({ demo, folder, makeDirectory }) => {
  // The longest allowed name.
  const long = `${'n'.repeat(251)}.txt`
  const here = await makeDirectory({ 'ü 1.txt': 'one', 'two.txt': 'two' })
  expect(await demo('put', join(here, 'ü 1.txt'), join(here, 'two.txt'), `${folder}/`)).toMatchObject({ status: 0 })
  expect((await demo('ls', folder)).stdout).toBe('two.txt\nü 1.txt\n')
  expect((await demo('cat', `/${folder}//ü 1.txt`)).stdout).toBe('one')
  expect((await demo('cp', `${folder}/two.txt`, `${folder}/sub/`)).stdout).toBe(`${folder}/sub/two.txt\n`)
  expect((await demo('mv', `${folder}/two.txt`, `${folder}/${long}`)).status).toBe(0)
  expect((await demo('ls', '-R', folder)).stdout).toBe(`${long}\nsub/two.txt\nü 1.txt\n`)
  expect((await demo('ls', '-l', `${folder}/${long}`)).stdout).toMatch(/^\d{4}-.*Z {2} +3 bytes {2}n+\.txt\n$/)
  expect((await demo('get', `${folder}/${long}`, here)).status).toBe(0)
  expect(await readFile(join(here, long), 'utf8')).toBe('two')
  expect(await demo('get', `${folder}/${long}`, here)).toMatchObject(outcome(1, 'Add --force'))
  expect((await demo('get', `${folder}/${long}`, here, '--force')).status).toBe(0)
  expect(await readdir(here)).toStrictEqual([long, 'two.txt', 'ü 1.txt'])
  const preview = JSON.parse((await demo('--json', 'rm', '--dry-run', `${folder}/sub`)).stdout)
  expect(preview).toMatchObject({ files: 1, bytes: 3, removed: false })
  expect(await demo('rm', `${folder}/sub`)).toMatchObject(outcome(1, 'Add --yes'))
  expect((await demo('rm', '--yes', `${folder}/sub`, `${folder}/${long}`)).status).toBe(0)
  expect((await demo('ls', folder)).stdout).toBe('ü 1.txt\n')
  expect((await demo('restore', `${folder}/sub`)).status).toBe(0)
  expect((await demo('cat', `${folder}/sub/two.txt`)).stdout).toBe('two')
})

test('put ignores case in folder names, but not in file names', async ({ demo, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'one', 'A.txt': 'two', 'b.txt': 'b', 'sub/a.txt': 'other' })
  const local = (...names: readonly string[]) => names.map((name) => join(here, name))
  await demo('put', ...local('A.txt'), `${folder}/News/`)
  expect((await demo('put', ...local('a.txt'), `${folder}/news`)).stdout).toBe(`${folder}/News/a.txt  3 bytes\n`)
  expect((await demo('put', ...local('a.txt', 'b.txt'), `${folder}/NEWS`)).status).toBe(0)
  const twice = await demo('put', ...local('a.txt', 'sub/a.txt'), `${folder}/News`)
  expect(twice).toMatchObject(outcome(2, 'have the same name'))
  await demo('put', ...local('b.txt'), `${folder}/NEWS/new/c.txt`)
  await demo('put', ...local('a.txt', 'b.txt'), `${folder}/nEWS/two`)
  await demo('cp', `${folder}/News/b.txt`, `${folder}/news/d.txt`)
  const below = { 'a.txt': 'one', 'b.txt': 'b', 'd.txt': 'b', 'new/c.txt': 'b', 'two/a.txt': 'one', 'two/b.txt': 'b' }
  const found = Object.entries(below).map(([path, text]) => [`News/${path}`, text])
  expect(await site.texts()).toStrictEqual({ 'News/A.txt': 'two', ...Object.fromEntries(found) })
})

test('a name in another case is stored in the existing folder', async ({ demo, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ two: 'two' })
  await site.store({ 'News/a.txt': 'a', 'News/b.txt': 'b' })
  expect((await demo('put', join(here, 'two'), `${folder}/NEWS/A.txt`)).stdout).toBe(`${folder}/News/A.txt  3 bytes\n`)
  expect((await demo('cp', `${folder}/News/b.txt`, `${folder}/news/A.TXT`)).stdout).toBe(`${folder}/News/A.TXT\n`)
  expect((await demo('mv', `${folder}/News/b.txt`, `${folder}/news/B.txt`)).stdout).toBe(`${folder}/News/B.txt\n`)
  const found = { 'News/a.txt': 'a', 'News/A.txt': 'two', 'News/A.TXT': 'b', 'News/B.txt': 'b' }
  expect(await site.texts()).toStrictEqual(found)
})

test('a command that needs the exact spelling of a path shows that spelling', async ({ demo, folder, site }) => {
  await site.store({ 'News/A.txt': 'a' })
  const asked = [
    ['rm', `${folder}/news/a.txt`],
    ['rm', '--dry-run', `${folder}/NEWS`],
    ['rm', '--yes', `${folder}/NEWS`],
    ['versions', `${folder}/news/a.txt`],
    ['mv', `${folder}/news/a.txt`, 'x'],
  ]
  for (const args of asked) {
    expect(await demo(...args)).toMatchObject(outcome(1, 'Use that spelling.'))
  }
})

test('a refused mv or cp names the taken path', async ({ demo, folder, site }) => {
  await site.store({ 'a.txt': 'a', 'sub/a.txt': 'b' })
  for (const command of ['mv', 'cp']) {
    const { status, stderr } = await demo('--json', command, `${folder}/a.txt`, `${folder}/sub`)
    expect([status, JSON.parse(stderr)]).toMatchObject([1, { code: 104022, path: `${folder}/sub/a.txt` }])
  }
})

test('get --force keeps the mode of a file, and a link to the file', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ 'a.txt': 'new' })
  const here = await makeDirectory({ 'a.txt': 'old' })
  await chmod(join(here, 'a.txt'), 0o600)
  await symlink('a.txt', join(here, 'link.txt'))
  expect((await demo('get', `${folder}/a.txt`, join(here, 'link.txt'), '--force')).status).toBe(0)
  expect((await lstat(join(here, 'link.txt'))).isSymbolicLink()).toBe(true)
  expect((await stat(join(here, 'a.txt'))).mode & 0o777).toBe(0o600)
  expect(await readFile(join(here, 'a.txt'), 'utf8')).toBe('new')
})

test('rm --dry-run shows that a reserved folder is refused, and rm refuses the root', async ({ demo, client }) => {
  await client.files.put('Layouts/a.html', 'a')
  const { stdout, status } = await demo('rm', '--dry-run', 'Layouts')
  expect([stdout, status]).toEqual(['would be refused (104020)  Layouts: 1 file, 1 byte\n', 0])
  expect(await demo('rm', '--yes', '/')).toMatchObject(outcome(2, 'cannot be changed'))
})

test('if one of several paths is missing, rm reports this path and removes nothing', async ({ demo, folder, site }) => {
  await site.store({ 'a.txt': 'a', 'b.txt': 'b' })
  expect(await demo('rm', `${folder}/a.txt`, `${folder}/x.txt`, `${folder}/b.txt`)).toStrictEqual({
    status: 1,
    stdout: '',
    stderr: `This site has no "${folder}/x.txt". Check the path.\n`,
  })
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'a', 'b.txt': 'b' })
})

test('purge asks, and then deletes old versions but not the file (T-53, H-30)', async ({ demo, folder, client }) => {
  const path = `${folder}/a.txt`
  for (const text of ['1', '22', '333']) await client.files.put(path, text, { replace: true })
  const versions = async () => eventsIn((await demo('--json', 'versions', path)).stdout)
  const sizes = async () => (await versions()).map(({ size }) => size)
  expect(await demo('purge', path)).toMatchObject(outcome(1, `(${path}: 2 old versions, 3 bytes)`))
  const [present, , oldest] = await versions()
  expect((await demo('purge', path, '--state', present.version, '--yes')).stderr).toContain('the present file')
  expect(await demo('purge', path, '--state', oldest.version, '--yes')).toMatchObject({
    status: 0,
    stdout: `purged  ${path}: 1 old version, 1 byte\n`,
  })
  expect(await sizes()).toEqual([3, 2])
  const { stdout } = await demo('--json', 'purge', '--yes', path)
  expect(JSON.parse(stdout)).toEqual({ path, versions: 1, bytes: 2, purged: true })
  expect(await sizes()).toEqual([3])
  await client.files.remove(path)
  expect((await demo('purge', '--yes', path)).status).toBe(0)
  expect(await demo('purge', '--yes', path)).toMatchObject({ status: 1 })
})

test('purge of a file without old versions needs no --yes (T-53)', async ({ demo, folder, site }) => {
  await site.store({ 'a.txt': '1', 'a.html': '1' })
  expect(await demo('purge', `${folder}/a.txt`)).toMatchObject({
    status: 0,
    stdout: `nothing to purge  ${folder}/a.txt\n`,
  })
  expect((await demo('purge', `${folder}/a.html`)).stdout).toContain('--yes')
  expect((await demo('purge', `${folder}/a.txt`, '--state', 'x')).stderr).not.toContain('--yes')
})

test('purge deletes nothing on a service without purges (H-30)', async ({ service, folder, site, listen }) => {
  await site.store({ a: '1' })
  const baseUrl: string = await listen(async ({ method = '', url, headers }, response) => {
    const { authorization = '', 'if-match': state = '*' } = headers
    const known = method === 'DELETE' ? url?.replace(/versions=|versionId=\w+/, '') : url
    const answer = await fetch(`${service.baseUrl}${known}`, { method, headers: { authorization, 'if-match': state } })
    response.writeHead(answer.status).end((await answer.text()).replaceAll(service.baseUrl, baseUrl))
  })
  const purge = ['purge', '--yes', `${folder}/a`]
  expect(await siteFiles(purge, asDemo({ ...service, baseUrl }))).toMatchObject(outcome(1, 'too old'))
  expect(await site.texts()).toEqual({ a: '1' })
})

test('old versions of a file are listed and restored', async ({ demo, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  await demo('put', join(here, 'a.txt'), `${folder}/`)
  await writeTree(here, { 'a.txt': 'two' })
  await demo('put', join(here, 'a.txt'), `${folder}/`)
  const [now, before] = eventsIn((await demo('--json', 'versions', `${folder}/a.txt`)).stdout)
  expect([now.current, before.current]).toStrictEqual([true, false])
  const refused = await demo('restore', `${folder}/a.txt`, '--state', before.version)
  expect(refused.stderr).toMatch(phrase`^${folder}/a.txt: The path is not free. Add --replace …. (request `)
  expect((await demo('restore', `${folder}/a.txt`, '--state', before.version, '--replace')).status).toBe(0)
  expect((await demo('cat', `${folder}/a.txt`)).stdout).toBe('one')
})

test('mv can change the case of a folder name', async ({ demo, folder, site }) => {
  await site.store({ 'news/a.txt': 'a' })
  expect((await demo('mv', `${folder}/news`, `${folder}/News`)).stdout).toBe(`${folder}/News\n`)
  expect(Object.keys(await site.texts())).toStrictEqual(['News/a.txt'])
  expect(await demo('mv', `${folder}/News`, `${folder}/News`)).toMatchObject(outcome(1, messages.client.insideItself))
})

test('put replaces a file, or fails with a reason', async ({ demo, proxied, service, folder, makeDirectory, site }) => {
  await site.store({ 'a.txt': 'old', 'b.txt/in': 'in a folder' })
  const here = await makeDirectory({ 'a.txt': 'new', 'b.txt': 'new' })
  expect((await demo('put', join(here, 'a.txt'), `${folder}/`)).status).toBe(0)
  const overFolder = await demo('put', join(here, 'b.txt'), folder)
  expect(overFolder).toMatchObject(outcome(3, 'b.txt" is a folder of the site.'))
  const device = await demo('put', '/dev/null', `${folder}/a.txt`)
  expect(device).toMatchObject(outcome(2, messages.client.notRegular('/dev/null')))
  const baseUrl = await proxied((method) => (method === 'PUT' ? 412 : 'pass'))
  const raced = await siteFiles(['put', join(here, 'a.txt'), `${folder}/`], asDemo({ ...service, baseUrl }))
  expect(raced).toMatchObject(outcome(3, messages.client.changedMeanwhile))
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'new', 'b.txt/in': 'in a folder' })
})

test('a refusal of a large file names the file', async ({ service, folder, makeDirectory, proxied }) => {
  const here = await makeDirectory({ 'large.bin': 'x'.repeat(4_600_000) })
  const baseUrl = await proxied((method) => (method === 'POST' ? 413 : 'pass'))
  const refused = await siteFiles(['put', join(here, 'large.bin'), `${folder}/`], asDemo({ ...service, baseUrl }))
  expect(refused).toMatchObject(outcome(1, `${folder}/large.bin: Busy.`))
})
