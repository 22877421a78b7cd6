import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdir, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { LocalRefusal, pull, push } from '../../client/src/sync/index.ts'
import { pathsOf, readSite, readTree, reported, test } from './support/site.ts'

test('files in .siteignore and built-in patterns are ignored on both sides (T-48)', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({
    '.siteignore': '*.log\n/drafts/\n!keep.log\n',
    'a.log': '',
    'keep.log': '',
    'drafts/x.html': '',
    'sub/drafts/y.html': '',
    '.git/config': '',
    'node_modules/m/index.js': '',
    '._resource': '',
  })
  await client.files.put(`${folder}/there.log`, 'not mine')
  await push({ client, directory: here, folder, removes: true })
  const site = Object.keys(await readSite(client, folder))
  expect(site).toStrictEqual(['.siteignore', 'keep.log', 'sub/drafts/y.html', 'there.log'])
})

test('symbolic links are followed inside the folder, but not out of it or in cycles (T-49)', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const outside = await makeDirectory({ 'secret.txt': 'secret' })
  const here = await makeDirectory({ 'a/file.txt': 'text' })
  await symlink(join(here, 'a'), join(here, 'inside'))
  await symlink(outside, join(here, 'outside'))
  await symlink(join(outside, 'secret.txt'), join(here, 'a', 'secret.txt'))
  await symlink(here, join(here, 'a', 'circle'))
  await symlink('nowhere', join(here, 'dangling'))
  const { events } = await reported(push, { client, directory: here, folder })
  expect(await readSite(client, folder)).toStrictEqual({ 'a/file.txt': 'text', 'inside/file.txt': 'text' })
  expect(pathsOf(events, 'skipped')).toStrictEqual([
    'a/circle',
    'a/secret.txt',
    'dangling',
    'inside/circle',
    'inside/secret.txt',
    'outside',
  ])

  await client.files.put(`${folder}/outside/planted.txt`, 'planted')
  const pulled = await reported(pull, { client, directory: here, folder })
  expect(pathsOf(pulled.events, 'failed')).toStrictEqual(['outside/planted.txt'])
  expect(await readTree(outside)).toStrictEqual({ 'secret.txt': 'secret' })
})

test('the state folder is never sent, through a link or with --all', async ({ client, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'sub/b.txt': 'b' })
  await push({ client, directory: here, folder: `${folder} before` })
  await push({ client, directory: join(here, 'sub'), folder: `${folder} before` })
  await symlink('.site-files', join(here, 'folder'))
  const [kept = ''] = await readdir(join(here, '.site-files'))
  await symlink(`.site-files/${kept}`, join(here, 'file'))
  const { events } = await reported(push, { client, directory: here, folder, all: true })
  expect(await readSite(client, folder)).toStrictEqual({ 'a.txt': 'a', 'sub/b.txt': 'b' })
  expect(pathsOf(events, 'skipped')).toStrictEqual(['file', 'folder'])
})

test('built-in patterns ignore case, because many disks do, and those of .siteignore do not', async ({
  client,
  folder,
  makeDirectory,
}) => {
  await client.files.put(`${folder}/.GIT/config`, 'not mine')
  await client.files.put(`${folder}/.Site-Files/state.json`, 'not mine')
  await client.files.put(`${folder}/A.LOG`, 'a')
  const here = await makeDirectory({ '.siteignore': '*.log' })
  await pull({ client, directory: here, folder })
  expect(Object.keys(await readTree(here)).sort()).toStrictEqual(['.siteignore', 'A.LOG'])
  await pull({ client, directory: here, folder, all: true })
  expect(Object.keys(await readTree(here)).sort()).toStrictEqual(['.GIT/config', '.siteignore', 'A.LOG'])
})

test('a socket in the folder is skipped, with a message', async ({ client, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'a', '.siteignore': 'ignored' })
  const sockets = ['socket', 'ignored'].map((name) => createServer().listen(join(here, name)))
  try {
    await Promise.all(sockets.map((each) => once(each, 'listening')))
    await symlink('socket', join(here, 'link'))
    const { end, events } = await reported(push, { client, directory: here, folder })
    expect(end).toMatchObject({ create: 2, failed: 0 })
    expect(pathsOf(events, 'skipped')).toStrictEqual(['link', 'socket'])
  } finally {
    for (const each of sockets) each.close()
  }
})

test('a .siteignore that is a pipe is refused without waiting', async ({ client, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'a' })
  execFileSync('mkfifo', [join(here, '.siteignore')])
  await expect(push({ client, directory: here, folder })).rejects.toThrow(LocalRefusal)
})
