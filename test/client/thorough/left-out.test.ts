import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Files } from '../../../client/src/index.ts'
import { isBelow } from '../../../client/src/sync/local-tree.ts'
import { unstorableReason } from '../../../client/src/sync/remote-tree.ts'
import { messages } from '../../support/messages.ts'
import { eventsIn, outcome, test } from '../support/command.ts'
import { pathsOf, readTree } from '../support/site.ts'

test('a pull skips files of the site below .site-files (T-52)', async ({ demo, folder, makeDirectory, site }) => {
  const path = 'sub/.site-files/state.json'
  await site.store({ 'a.txt': 'a', '.\u017fite-files/state.json': 'not mine', [path]: 'not mine' })
  const why = '.site-files is reserved for this command'
  const printed = await demo('pull', folder, await makeDirectory())
  expect(printed).toMatchObject(outcome(0, `skipped  ${path}: ${why}\n${messages.client.done(1, 0, ', 2 skipped')}\n`))
  const { stdout } = await demo('--json', 'pull', '--all', folder, await makeDirectory())
  expect(eventsIn(stdout)).toContainEqual({ event: 'skipped', path, why })
  expect(eventsIn(stdout).at(-1)).toMatchObject({ event: 'end', create: 1, skipped: 2 })
})

test('a path that is too long for the disk fails alone (T-52)', async ({ demo, folder, makeDirectory, site }) => {
  const long = Array(3).fill('n'.repeat(240)).join('/')
  await site.store({ [long]: 'long', 'a.txt': 'a' })
  const here = join(await makeDirectory(), ...Array(14).fill('d'.repeat(240)))
  await mkdir(here, { recursive: true })
  const { status, stderr, stdout } = await demo('pull', folder, here)
  expect({ status, stdout }).toStrictEqual({ status: 1, stdout: 'created  a.txt\n' })
  expect(stderr).toContain(`failed  ${long}: This name or path is longer than the disk allows: ${here}`)
  expect(stderr).toContain(messages.client.done(1, 0, ', 1 failed'))
})

test('a link or folder in place of a file is a conflict (T-52)', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ link: 'a', place: 'b', 'c.txt': 'c' })
  const here = await makeDirectory({ 'c.txt': 'c' })
  await symlink('nowhere', join(here, 'link'))
  await symlink('/nowhere', join(here, 'of no interest'))
  await mkdir(join(here, 'place'))
  const { status, stderr } = await demo('pull', '--force', folder, here)
  expect(status).toBe(3)
  expect(stderr.split('\n').slice(1).sort()).toStrictEqual([
    '',
    `CONFLICT  link: ${messages.client.placeTaken('link', 'symbolic link')}`,
    `CONFLICT  place: ${messages.client.placeTaken('place', 'folder')}`,
    messages.client.done(0, 0, ', 2 in conflict, 1 skipped'),
    'skipped  link: it is a symbolic link that leads nowhere',
  ])
  const { stdout } = await demo('--json', 'pull', folder, here)
  const why = messages.client.placeTaken('link', 'symbolic link')
  expect(eventsIn(stdout)).toContainEqual({ event: 'conflict', path: 'link', why })
})

test('a pull fails for names no disk can store, and then removes no file', async ({ client, makeDirectory, site }) => {
  await site.store({ 'a.txt': 'a', 'b.txt': 'b' })
  const here = await makeDirectory()
  await site.pull(here)
  await site.remove('b.txt')
  const paths = ['../evil.txt', 'x/./y', 'x//y', 'back\\slash', 'line\nbreak']
  // The service itself would refuse these names.
  const listAll: Files['listAll'] = async function* (...given) {
    for await (const file of client.files.listAll(...given)) yield* [file, ...paths.map((path) => ({ ...file, path }))]
  }
  const odd = site.withFiles({ listAll })
  const { events, ...end } = await site.pull(here, { client: odd, removes: true })
  expect(end).toMatchObject({ create: 0, remove: 0, failed: 5 })
  expect(pathsOf(events, 'failed')).toStrictEqual(paths.toSorted())
  expect(await readTree(here)).toStrictEqual({ 'a.txt': 'a', 'b.txt': 'b' })
  expect(await site.push(here, { client: odd })).toMatchObject({ failed: 0 })
})

test.for([
  ['refuses', 'what?.txt'],
  ['refuses', 'a:b'],
  ['refuses', 'trailing.'],
  ['refuses', 'folder /a'],
  ['refuses', 'nul'],
  ['refuses', 'sub/COM1.txt'],
  ['accepts', 'console.txt'],
  ['accepts', '.hidden'],
] as const)('Windows %s the name "%s"', ([verdict, path]) => {
  expect(unstorableReason(path, 'win32') !== undefined).toBe(verdict === 'refuses')
  expect(unstorableReason(path, 'linux')).toBeUndefined()
})

test.for([
  ['/', '/a', true],
  ['/a', '/a/b', true],
  ['/a', '/ab', false],
  ['/a', '/a', false],
] as const)('a pull to %s writes into the folder %s: %s (T-49)', ([root, folder, isWritten]) => {
  expect(isBelow(root, folder)).toBe(isWritten)
})
