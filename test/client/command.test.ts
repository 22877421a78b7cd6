import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { createTextPrinter } from '../../client/src/command/printers.ts'
import { connect } from '../../client/src/index.ts'
import { asDemo, siteFiles, startSiteFiles } from './support/command.ts'
import { test as base, readSite, readTree, writeTree } from './support/site.ts'

const test = base.extend('demo', async ({ service }) => {
  return (...args: readonly string[]) => siteFiles(args, asDemo(service))
})

test('single files are stored, listed, printed, fetched, moved, copied, removed and brought back', async ({
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

test('a file whose name is as long as a name may be is stored and fetched', async ({ demo, folder, makeDirectory }) => {
  const name = `${'n'.repeat(251)}.txt`
  const here = await makeDirectory({ [name]: 'long' })
  await demo('put', join(here, name), `${folder}/`)
  const there = await makeDirectory()
  expect(await demo('get', `${folder}/${name}`, there)).toMatchObject({ status: 0, stderr: '' })
  expect(await readTree(there)).toStrictEqual({ [name]: 'long' })
})

test('a name in other case is another file, and a folder in other case the same one', async ({
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
    message: expect.stringContaining(`"${folder}/News/A.txt". Write it like that.`),
  })
  expect((await demo('rm', `${folder}/News/a.txt`)).status).toBe(1)
  expect(await readSite(client, folder)).toStrictEqual({ 'News/A.txt': 'two' })
})

test('several files go into a folder in whatever case it is named, and none of them takes the place of another', async ({
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

test('what is there in other case is said to be, where it must be written as it is', async ({
  demo,
  client,
  folder,
}) => {
  await client.files.put(`${folder}/News/A.txt`, 'a')
  const asked = [
    ['rm', `${folder}/news/a.txt`],
    ['rm', '--dry-run', `${folder}/NEWS`],
    ['rm', '--yes', `${folder}/NEWS`],
    ['versions', `${folder}/news/a.txt`],
    ['mv', `${folder}/news/a.txt`, 'x'],
  ]
  for (const args of asked) {
    expect(await demo(...args)).toMatchObject({ status: 1, stderr: expect.stringContaining('Write it like that.') })
  }
})

test('a file that takes the place of another one has its mode, and a link to it stays one', async ({
  demo,
  client,
  folder,
  makeDirectory,
}) => {
  await client.files.put(`${folder}/a.txt`, 'new')
  const here = await makeDirectory({ 'a.txt': 'old' })
  await chmod(join(here, 'a.txt'), 0o600)
  await symlink('a.txt', join(here, 'link.txt'))
  expect((await demo('get', `${folder}/a.txt`, join(here, 'link.txt'), '--force')).status).toBe(0)
  expect((await lstat(join(here, 'link.txt'))).isSymbolicLink()).toBe(true)
  expect((await stat(join(here, 'a.txt'))).mode & 0o777).toBe(0o600)
  expect(await readFile(join(here, 'a.txt'), 'utf8')).toBe('new')
})

test('what is refused is said before it is removed', async ({ demo, service }) => {
  const client = await connect({ url: service.baseUrl, token: service.token })
  await client.files.put('Layouts/a.html', 'a')
  const { stdout, status } = await demo('rm', '--dry-run', 'Layouts')
  expect({ stdout, status }).toStrictEqual({
    stdout: 'would be refused (104020)  Layouts: 1 file, 1 bytes\n',
    status: 0,
  })
  expect(await demo('rm', '--yes', '/')).toMatchObject({ status: 2, stderr: expect.stringContaining('stays') })
})

test('an earlier state of a file is listed and brought back', async ({ demo, folder, makeDirectory }) => {
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

test('push, diff and pull tell what they do in plain lines, and as events', async ({
  demo,
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'b.txt': 'b' })
  expect((await demo('diff', here, folder)).stdout).toBe('create  a.txt  1 bytes\ncreate  b.txt  1 bytes\n')
  const pushed = await demo('push', here, folder)
  expect(pushed).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('Done: 2 created, 0 replaced, 0 removed.'),
  })
  expect(pushed.stdout.split('\n').sort()).toStrictEqual(['', 'created  a.txt', 'created  b.txt'])
  expect(await readSite(client, folder)).toStrictEqual({ 'a.txt': 'a', 'b.txt': 'b' })

  const there = await makeDirectory()
  const events = (await demo('--json', 'pull', folder, there)).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(events[0]).toMatchObject({ event: 'plan', create: 2, bytes: 2 })
  expect(events.at(-1)).toMatchObject({ event: 'end', create: 2, failed: 0, interrupted: false })
  expect(await readTree(there)).toStrictEqual(await readTree(here))
})

test('what is ignored is counted, and comes along with --all, in both directions', async ({
  demo,
  client,
  folder,
  makeDirectory,
}) => {
  const tree = { 'a.txt': 'a', 'b.tmp': 'b', '.siteignore': '*.tmp', '.git/config': 'git', 'sub/.DS_Store': 'x' }
  const here = await makeDirectory(tree)
  expect((await demo('push', here, folder)).stderr).toContain('3 ignored (--all takes them along)')
  expect(Object.keys(await readSite(client, folder))).toStrictEqual(['.siteignore', 'a.txt'])
  expect((await demo('push', '--all', here, folder)).stderr).toContain('Done: 3 created')
  expect(await readSite(client, folder)).toStrictEqual(tree)
  const there = await makeDirectory()
  expect((await demo('pull', folder, there)).stderr).toContain('2 ignored (--all takes them along)')
  expect((await demo('pull', '--all', folder, there)).status).toBe(0)
  expect(await readTree(there)).toStrictEqual(tree)
  const { stderr } = await demo('diff', '--all', there, folder)
  expect(stderr).toContain('5 left as they are.')
})

test('a conflict is exit status 3, and overwritten with --force, which is told to concern other files as well', async ({
  demo,
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'b.txt': 'b' })
  await demo('push', here, folder)
  await writeTree(here, { 'a.txt': 'mine' })
  await client.files.put(`${folder}/a.txt`, 'theirs', { replace: true })
  await client.files.put(`${folder}/b.txt`, 'theirs', { replace: true })
  expect(await demo('diff', here, folder)).toMatchObject({
    status: 3,
    stdout:
      'CONFLICT (changed on both sides, or never seen alike)  a.txt  4 bytes\nleft alone (changed on the other side only)  b.txt  1 bytes\n',
    stderr: expect.stringContaining('add --force to overwrite it, and 1 that changed on the other side only'),
  })
  expect(await demo('push', here, folder)).toMatchObject({
    status: 3,
    stderr: expect.stringContaining('1 in conflict'),
  })
  expect((await demo('push', '--force', here, folder)).status).toBe(0)
  expect(await readSite(client, folder)).toStrictEqual({ 'a.txt': 'mine', 'b.txt': 'b' })
})

test('nothing is removed where nobody can be asked, unless --yes says so', async ({
  demo,
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'a' })
  await client.files.put(`${folder}/old.txt`, 'old')
  expect(await demo('push', '--delete', here, folder)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Add --yes'),
  })
  expect(await readSite(client, folder)).toStrictEqual({ 'old.txt': 'old' })
  expect((await demo('push', '--delete', '--yes', here, folder)).status).toBe(0)
  expect(await readSite(client, folder)).toStrictEqual({ 'a.txt': 'a' })
})

test('a folder gets a name in other case, as a file does', async ({ demo, client, folder }) => {
  await client.files.put(`${folder}/news/a.txt`, 'a')
  expect(await demo('mv', `${folder}/news`, `${folder}/News`)).toMatchObject({
    status: 0,
    stdout: `${folder}/News\n`,
  })
  expect(Object.keys(await readSite(client, folder))).toStrictEqual(['News/a.txt'])
  expect(await demo('mv', `${folder}/News`, `${folder}/News`)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('into itself'),
  })
})

test('what a push refuses to remove, a diff and a dry run of it refuse as well', async ({
  demo,
  client,
  folder,
  makeDirectory,
}) => {
  await client.files.put(`${folder}/a.txt`, 'a')
  const empty = await makeDirectory()
  const refused = { status: 1, stdout: '', stderr: expect.stringContaining('has no files, so nothing is removed') }
  expect(await demo('push', '--delete', '--yes', empty, folder)).toStrictEqual(refused)
  expect(await demo('diff', '--delete', empty, folder)).toStrictEqual(refused)
  expect(await demo('push', '--delete', '--dry-run', empty, folder)).toStrictEqual(refused)
  expect((await demo('diff', empty, folder)).status).toBe(0)
})

test('a file in the way of a folder, and a folder in the way of a file, are named, and go with --delete', async ({
  demo,
  client,
  folder,
  makeDirectory,
}) => {
  await client.files.put(`${folder}/x`, 'file')
  await client.files.put(`${folder}/y/z`, 'in a folder')
  const here = await makeDirectory({ 'x/in': 'in a folder', y: 'file' })
  for (const args of [
    ['diff', here, folder],
    ['push', here, folder],
    ['push', '--force', here, folder],
    ['pull', folder, here],
    ['pull', '--force', folder, here],
  ]) {
    const said = await demo(...args)
    const [file, place] = args[0] === 'pull' ? ['y', 'x'] : ['x', 'y']
    expect(said).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('Add --delete to remove what is in the way'),
    })
    expect(said.stderr).not.toContain('--force')
    expect(said.stdout).toContain(`CONFLICT (the file ${file} is in the way)  ${file}/`)
    expect(said.stdout).toContain(`CONFLICT (the folder ${place} is in the way)  ${place}  `)
  }
  expect((await demo('push', '--delete', '--yes', here, folder)).status).toBe(0)
  expect(await readSite(client, folder)).toStrictEqual({ 'x/in': 'in a folder', y: 'file' })
})

const wrong: readonly (readonly [readonly string[], RegExp])[] = [
  [['nope'], /unknown command 'nope'/],
  [['ls', 'a', 'b'], /too many arguments/],
  [['cat'], /missing required argument 'path'/],
  [['get'], /missing required argument 'path'/],
  [['put', 'one'], /Say which file, and where to/],
  [['mv', 'a'], /missing required argument 'to'/],
  [['cp', 'a'], /missing required argument 'to'/],
  [['rm'], /missing required argument 'path'/],
  [['restore'], /missing required argument 'path'/],
  [['versions'], /missing required argument 'path'/],
  [['diff'], /missing required argument 'dir'/],
  [['push'], /missing required argument 'dir'/],
  [['pull'], /missing required argument/],
  [['watch'], /missing required argument 'dir'/],
  [['completion', 'fish'], /Allowed choices are bash, zsh/],
  [['--site', 'x', 'ls'], /It must be the number of a site/],
  [['--url', 'x', 'ls'], /"x" is no address of a service\. It looks like/],
  [['--url', 'https://ann@example.com', 'ls'], /is no address of a service/],
  [['push', '--deleet', '.'], /unknown option '--deleet'/],
  [['ls'], /Say which service/],
  [['--url', 'http://127.0.0.1:1', 'ls'], /No token for/],
  [['--url', 'http://127.0.0.1:1', '--token-file', '/dev/zero', 'ls'], /too large to be a file with a token/],
]

test.for(wrong)('wrong use is a sentence and exit status 2: site-files %j', async ([args, sentence]) => {
  const { status, stderr } = await siteFiles(args)
  expect(status).toBe(2)
  expect(stderr).toMatch(sentence)
  expect(stderr).not.toMatch(/\n {4}at /)
})

const unnamed: readonly (readonly string[])[] = [
  ['push', ''],
  ['diff', ''],
  ['watch', ''],
  ['pull', ''],
  ['pull', 'news', ''],
  ['mv', '', 'x'],
  ['cp', '/', 'x'],
  ['rm', ''],
  ['versions', ''],
  ['restore', '/'],
]

test('a name that is none is wrong use', async ({ demo }) => {
  for (const args of unnamed) {
    expect(await demo(...args), args.join(' ')).toStrictEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/^Name .+\.\n$/),
    })
  }
})

test('an address that is none is wrong use, wherever it is given', async () => {
  const environment = { SITE_ADMIN_URL: 'ftp://x', SITE_ADMIN_TOKEN: 'a' }
  for (const command of ['ls', 'login']) {
    expect(await siteFiles([command], environment)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('"ftp://x" is no address of a service'),
    })
  }
})

test('what cannot be done is a sentence and exit status 1', async ({ service, demo, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'a' })
  await symlink('/dev/zero', join(here, 'device'))
  await mkdir(join(here, 'odd', '.siteignore'), { recursive: true })
  const failing: readonly (readonly [() => ReturnType<typeof siteFiles>, RegExp])[] = [
    [() => siteFiles(['ls'], { ...asDemo(service), SITE_ADMIN_TOKEN: 'wrong' }), /login/],
    [() => siteFiles(['--site', '77', 'ls'], asDemo(service)), /does not cover site 77/],
    [() => demo('cat', `${folder}/nothing`), /There is no such file or folder/],
    [
      () => demo('push', join(here, 'nothing'), folder),
      /There is no such file or folder: .*nothing\. Check the path\.\n$/,
    ],
    [() => demo('push', join(here, 'a.txt'), folder), /^".*a\.txt" is no folder\. Name one, or use "get" and "put"/],
    [() => demo('watch', join(here, 'a.txt'), folder), /^".*a\.txt" is no folder\./],
    [() => demo('pull', folder, join(here, 'a.txt')), /^".*a\.txt" is no folder\./],
    [
      () => demo('get', 'hello.txt', join(here, 'a.txt', 'x', 'y')),
      /This is a file, where a folder is needed: .*\/a\.txt\. Name/,
    ],
    [() => demo('put', join(here, 'nothing'), folder), /There is no such file or folder/],
    [() => demo('cat', `${folder}/../x`), /has a part/],
    [
      () => demo('get', 'hello.txt', join(here, 'nothing', 'x')),
      /There is no such file or folder: .*nothing\. Check the path\.\n$/,
    ],
    [() => demo('get', 'hello.txt', join(here, 'device'), '--force'), /is no file/],
    [() => demo('get', 'hello.txt', `${join(here, 'nothing')}/`), /There is no folder .*nothing\//],
    [() => demo('get', 'hello.txt', `${join(here, 'a.txt')}/`), /There is no folder .*a\.txt\//],
    [() => demo('push', join(here, 'odd'), folder), /This is a folder, where a file is needed: .*\.siteignore/],
    [() => demo('--token-file', here, 'ls'), /This is a folder, where a file is needed: .+/],
    [() => demo('pull', `${folder}/nothing`, here), /There is no such file or folder on this site/],
  ]
  for (const [call, sentence] of failing) {
    const { status, stderr } = await call()
    expect({ status, stderr }).toStrictEqual({ status: 1, stderr: expect.stringMatching(sentence) })
    expect(stderr).not.toMatch(/\n {4}at /)
  }
})

test('a pipe or a device is not stored as an empty file', async ({ demo, client, folder }) => {
  await client.files.put(`${folder}/a.txt`, 'a')
  expect(await demo('put', '/dev/null', `${folder}/a.txt`)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('"/dev/null" is no file'),
  })
  expect(await readSite(client, folder)).toStrictEqual({ 'a.txt': 'a' })
})

test('every command shows an example in its help', async () => {
  const { stdout } = await siteFiles(['--help'])
  const commands = [...stdout.matchAll(/^ {2}([a-z]+)[ |]/gm)]
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'help')
  expect(commands).toHaveLength(15)
  for (const command of commands) {
    expect(await siteFiles([command, '--help'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`Example:\n  $ site-files`),
    })
  }
})

test('a login keeps the token for its user alone, and it is sent to no other address', async ({
  service,
  makeDirectory,
  demo,
}) => {
  const config = await makeDirectory({ 'site-files/login.json': '{}' })
  await chmod(join(config, 'site-files', 'login.json'), 0o644)
  const environment = { XDG_CONFIG_HOME: config }
  const login = startSiteFiles(['--url', `${service.baseUrl}/`, 'login'], environment)
  login.stdin.end(`${service.token}\n`)
  const said = await login.ended
  expect(said).toMatchObject({ status: 0, stdout: '', stderr: expect.stringContaining('Demo site') })
  expect(said.stderr).not.toContain(service.token)
  expect((await stat(join(config, 'site-files', 'login.json'))).mode & 0o777).toBe(0o600)
  expect((await siteFiles(['ls'], environment)).status).toBe(0)
  expect(await siteFiles(['--url', 'http://127.0.0.1:1', 'ls'], environment)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('No token for'),
  })
  const tokenFile = join(config, 'token')
  await writeFile(tokenFile, `${service.token}\n`)
  expect((await siteFiles(['--url', service.baseUrl, '--token-file', tokenFile, 'ls'])).status).toBe(0)
  expect((await demo('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test('a folder in which nothing can be written fails with a sentence', async ({
  demo,
  client,
  folder,
  makeDirectory,
}) => {
  await client.files.put(`${folder}/a.txt`, 'a')
  const here = await makeDirectory({ '.site-files': 'a file, where a folder has to be' })
  const { status, stderr } = await demo('pull', folder, here)
  expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('This is there already') })
})

test('a name that others have given steers no terminal', async ({ makeDirectory }) => {
  const server = createServer((_, response) => {
    const site = { id: 1, name: 'Shop\u001b[2J', url: `http://127.0.0.1:${port}`, permissions: ['files'] }
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ items: [site] }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const environment = { XDG_CONFIG_HOME: await makeDirectory() }
    const login = startSiteFiles(['--url', `http://127.0.0.1:${port}`, 'login'], environment)
    login.stdin.end('a\n')
    expect(await login.ended).toMatchObject({ status: 0, stderr: expect.stringContaining('(Shop\\u{1b}[2J)') })
  } finally {
    server.close()
  }
})

test('on a terminal, one line lives and ends with what was done', () => {
  const lines: string[] = []
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  try {
    const printer = createTextPrinter({}, { out: true, error: true })
    printer.print({ event: 'plan', create: 2, replace: 0, remove: 0, keep: 3, conflict: 0, bytes: 2000, ignored: 1 })
    printer.print({ event: 'progress', files: 1, totalFiles: 2, bytes: 1000, totalBytes: 2000 })
    printer.print({ event: 'done', action: 'create', path: 'a', size: 1000 })
    printer.print({ event: 'failed', path: 'b\u001b[2J', message: 'No.' })
    printer.print({
      event: 'end',
      create: 1,
      replace: 0,
      remove: 0,
      keep: 3,
      conflict: 0,
      failed: 1,
      interrupted: false,
    })
  } finally {
    spy.mockRestore()
  }
  expect(lines[0]).toBe(
    'To do: 2 to create, 0 to replace, 0 to remove (2.0 KB); 3 left as they are, 1 ignored (--all takes them along).\n',
  )
  expect(lines[1]).toMatch(/^\r1 of 2 files, 1\.0 KB of 2\.0 KB, .*\/s, .* left/)
  expect(lines.slice(2)).toStrictEqual([
    '\r\u001b[K',
    'failed  b\\u{1b}[2J: No.\n',
    'Done: 1 created, 0 replaced, 0 removed, 1 failed.\n',
  ])
})

test('completion names every command, in scripts that the shells can read', async () => {
  for (const shell of ['bash', 'zsh']) {
    const { stdout, status } = await siteFiles(['completion', shell])
    expect(status).toBe(0)
    for (const command of ['ls', 'push', 'login']) expect(stdout).toContain(command)
  }
  const { stdout: script } = await siteFiles(['completion', 'bash'])
  const offered = (...words: readonly string[]) => {
    const asked = `${script}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _site_files; echo "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', asked, 'bash', 'site-files', ...words], { encoding: 'utf8' }).trim()
  }
  expect(offered('pu')).toBe('put push pull')
  expect(offered('push', '--d')).toBe('--delete --dry-run')
  expect(offered('--site', '1001', 'push', '--d')).toBe('--delete --dry-run')
  expect(offered('--token-file', 'push', 'pu')).toBe('put push pull')
  expect(offered('completion', 'z')).toBe('zsh')
  // Where it offers nothing, the shell has its own way with the names of files.
  expect(offered('push', '')).toBe('')
  expect(script).toContain('complete -o bashdefault -o default')
})
