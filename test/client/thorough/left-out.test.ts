import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { ListedFile, SiteClient } from '../../../client/src/index.ts'
import { pull, push } from '../../../client/src/sync/index.ts'
import { unfitReason } from '../../../client/src/sync/remote-tree.ts'
import { test } from '../support/command.ts'
import { readTree, reported } from '../support/site.ts'

const eventsIn = (stdout: string): readonly unknown[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('a pull lists site files below .site-files as skipped, in the summary and as an event, with status 0 (T-52)', async ({
  demo,
  folder,
  store,
  makeDirectory,
}) => {
  await store({ 'a.txt': 'a', 'sub/.site-files/state.json': 'not mine' })
  const path = 'sub/.site-files/state.json'
  const why = '.site-files is reserved for this command'
  const said = await demo('pull', folder, await makeDirectory())
  expect(said).toMatchObject({
    status: 0,
    stderr: expect.stringContaining(`skipped  ${path}: ${why}\nDone: 1 created, 0 replaced, 0 removed, 1 skipped.\n`),
  })
  const { stdout } = await demo('--json', 'pull', '--all', folder, await makeDirectory())
  expect(eventsIn(stdout)).toContainEqual({ event: 'skipped', path, why })
  expect(eventsIn(stdout).at(-1)).toMatchObject({ event: 'end', create: 1, skipped: 1 })
})

test('a pull names a path that is too long for the disk, fetches the rest, and has status 1 (T-52)', async ({
  demo,
  folder,
  store,
  makeDirectory,
}) => {
  const long = Array(3).fill('n'.repeat(240)).join('/')
  await store({ [long]: 'long', 'a.txt': 'a' })
  const here = join(await makeDirectory(), ...Array(14).fill('d'.repeat(240)))
  await mkdir(here, { recursive: true })
  const { status, stderr, stdout } = await demo('pull', folder, here)
  expect({ status, stdout }).toStrictEqual({ status: 1, stdout: 'created  a.txt\n' })
  expect(stderr).toContain(`failed  ${long}: This name or path is longer than the disk allows: ${here}`)
  expect(stderr).toContain('Done: 1 created, 0 replaced, 0 removed, 1 failed.')
})

test('a pull names the obstacle in the place of a file, does not suggest --force, and has status 3 (T-52)', async ({
  demo,
  folder,
  store,
  makeDirectory,
}) => {
  await store({ link: 'a', place: 'b', 'c.txt': 'c' })
  const here = await makeDirectory({ 'c.txt': 'c' })
  await symlink('nowhere', join(here, 'link'))
  await symlink('/nowhere', join(here, 'of no interest'))
  await mkdir(join(here, 'place'))
  const { status, stderr } = await demo('pull', '--force', folder, here)
  expect(status).toBe(3)
  expect(stderr.split('\n').slice(1).sort()).toStrictEqual([
    '',
    'CONFLICT  link: link was not written: its place is taken by a symbolic link. Rename that, then repeat.',
    'CONFLICT  place: place was not written: its place is taken by a folder. Rename that, then repeat.',
    'Done: 0 created, 0 replaced, 0 removed, 2 in conflict, 1 skipped.',
    'skipped  link: it is a symbolic link that leads nowhere',
  ])
  const { stdout } = await demo('--json', 'pull', folder, here)
  expect(eventsIn(stdout)).toContainEqual({
    event: 'conflict',
    path: 'link',
    why: 'link was not written: its place is taken by a symbolic link. Rename that, then repeat.',
  })
})

/** A client whose site has extra files, with names that the service itself refuses. */
const withNames = (client: SiteClient, paths: readonly string[]): SiteClient => ({
  ...client,
  files: {
    ...client.files,
    async *listAll(...given) {
      for await (const file of client.files.listAll(...given)) {
        yield file
        for (const path of paths) yield { ...file, path } satisfies ListedFile
      }
    },
  },
})

test('a pull fails for each name that no disk can store, fetches the rest, and removes nothing', async ({
  client,
  folder,
  store,
  makeDirectory,
}) => {
  await store({ 'a.txt': 'a', 'b.txt': 'b' })
  const here = await makeDirectory()
  await pull({ client, directory: here, folder })
  await client.files.remove(`${folder}/b.txt`)
  const paths = ['../evil.txt', 'x/./y', 'x//y', 'back\\slash', 'line\nbreak']
  const odd = withNames(client, paths)
  const { end, events } = await reported(pull, { client: odd, directory: here, folder, removes: true })
  expect(end).toMatchObject({ create: 0, remove: 0, failed: 5 })
  expect(events.flatMap((event) => (event.event === 'failed' ? [event.path] : []))).toStrictEqual(paths)
  expect(await readTree(here)).toStrictEqual({ 'a.txt': 'a', 'b.txt': 'b' })
  expect((await reported(push, { client: odd, directory: here, folder })).end).toMatchObject({ failed: 0 })
})

test.for([
  ['what?.txt', true],
  ['a:b', true],
  ['trailing.', true],
  ['folder /a', true],
  ['nul', true],
  ['sub/COM1.txt', true],
  ['console.txt', false],
  ['.hidden', false],
] as const)('Windows cannot store the name "%s": %s', ([path, isUnfit]) => {
  expect(unfitReason(path, 'win32') !== undefined).toBe(isUnfit)
  expect(unfitReason(path, 'linux')).toBeUndefined()
})
