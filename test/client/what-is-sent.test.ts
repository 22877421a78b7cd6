import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { LocalRefusal } from '../../client/src/sync/index.ts'
import { pathsOf, readTree, test } from './support/site.ts'

test('a push follows symbolic links inside the folder, except cycles (T-49)', async ({ makeDirectory, site }) => {
  const outside = await makeDirectory({ 'secret.txt': 'secret' })
  const here = await makeDirectory({ 'a/file.txt': 'text' })
  await symlink(join(here, 'a'), join(here, 'inside'))
  await symlink(outside, join(here, 'outside'))
  await symlink(join(outside, 'secret.txt'), join(here, 'a', 'secret.txt'))
  await symlink(here, join(here, 'a', 'circle'))
  await symlink('nowhere', join(here, 'dangling'))
  const { events } = await site.push(here)
  expect(await site.texts()).toStrictEqual({ 'a/file.txt': 'text', 'inside/file.txt': 'text' })
  expect(pathsOf(events, 'skipped')).toStrictEqual([
    ...['a/circle', 'a/secret.txt', 'dangling', 'inside/circle', 'inside/secret.txt', 'outside'],
  ])

  await site.put('outside/planted.txt', 'planted')
  const pulled = await site.pull(here)
  expect(pathsOf(pulled.events, 'failed')).toStrictEqual(['outside/planted.txt'])
  expect(await readTree(outside)).toStrictEqual({ 'secret.txt': 'secret' })
})

test('the state folder is never sent, even through a link or with --all', async ({ folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'sub/b.txt': 'b' })
  await site.push(here, { folder: `${folder} before` })
  await site.push(join(here, 'sub'), { folder: `${folder} before` })
  await symlink('.site-files', join(here, 'folder'))
  const [kept = ''] = await readdir(join(here, '.site-files'))
  await symlink(`.site-files/${kept}`, join(here, 'file'))
  const { events } = await site.push(here, { all: true })
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'a', 'sub/b.txt': 'b' })
  expect(pathsOf(events, 'skipped')).toStrictEqual(['file', 'folder'])
})

test.for([
  ['GIT~1', '.git', []],
  ['.git/SITE-F~1', '.site-files', []],
  ['node_modules/a', 'node_modules/b', ['x.txt']],
] as const)(
  'a pull through the link %s to %s writes %j (T-48)',
  async ([link, to, written], { makeDirectory, site }) => {
    const here = await makeDirectory({ [`${to}/kept`]: '', '.git/kept': '' })
    await mkdir(join(here, dirname(link)), { recursive: true })
    await symlink(join(here, to), join(here, link))
    await site.store({ [`${link}/new/x.txt`]: 'x', 'a.txt': 'a' })
    const { events } = await site.pull(here, { all: true })
    expect(pathsOf(events, 'failed')).toStrictEqual(written.length > 0 ? [] : [`${link}/new/x.txt`])
    expect(await readdir(join(here, to, 'new')).catch(() => [])).toEqual(written)
    expect(await readTree(here)).toMatchObject({ 'a.txt': 'a' })
  },
)

test('patterns of .siteignore are case-sensitive, built-in patterns are not', async ({ makeDirectory, site }) => {
  await site.put('.GIT/config', 'not mine')
  await site.put('.Site-Files/state.json', 'not mine')
  await site.put('A.LOG', 'a')
  const here = await makeDirectory({ '.siteignore': '*.log' })
  await site.pull(here)
  expect(Object.keys(await readTree(here)).sort()).toStrictEqual(['.siteignore', 'A.LOG'])
  await site.pull(here, { all: true })
  expect(Object.keys(await readTree(here)).sort()).toStrictEqual(['.GIT/config', '.siteignore', 'A.LOG'])
})

test('a socket in the folder is skipped and reported', async ({ makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'a', '.siteignore': 'ignored' })
  const sockets = ['socket', 'ignored'].map((name) => createServer().listen(join(here, name)))
  onTestFinished(() => sockets.forEach((each) => void each.close()))
  await Promise.all(sockets.map((each) => once(each, 'listening')))
  await symlink('socket', join(here, 'link'))
  const { events, ...end } = await site.push(here)
  expect(end).toMatchObject({ create: 2, failed: 0 })
  expect(pathsOf(events, 'skipped')).toStrictEqual(['link', 'socket'])
})

test('if .siteignore is a pipe or has a too long line, a push fails at once', async ({ makeDirectory, site }) => {
  const odd = await makeDirectory({ '.siteignore': `*.log\n${'x'.repeat(4097)}` })
  await expect(site.push(odd)).rejects.toThrow(LocalRefusal)
  const here = await makeDirectory({ 'a.txt': 'a' })
  execFileSync('mkfifo', [join(here, '.siteignore')])
  await expect(site.push(here)).rejects.toThrow(LocalRefusal)
})
