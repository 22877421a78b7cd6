import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { messages } from '../../support/messages.ts'
import { type Outcome, runInShell, sentenceIn, unread } from '../../support/program.ts'
import { mountSmallDisk, noSmallDisk } from '../../support/small-disk.ts'
import type { SpawnedService } from '../../support/spawned-service.ts'
import { outcome } from '../support/command.ts'
import { test } from '../support/site.ts'

/** A device of Linux that is always full. */
const full = '/dev/full'

/** Runs a shell line in which `run` is site-files with the demo token. Paths are arguments, from `$1` on. */
const inShell = (
  { baseUrl, token }: Pick<SpawnedService, 'baseUrl' | 'token'>,
  line: string,
  ...args: readonly string[]
): Promise<Outcome> =>
  runInShell(
    `export SITE_ADMIN_URL=${baseUrl} SITE_ADMIN_TOKEN=${token}; set -o pipefail; run() { "$node" client/src/command/main.ts "$@"; }; ${line}`,
    args,
  )

const noRoom = messages.output.full('. Redirect it to a disk with free space.')

test
  .skipIf(!existsSync(full))
  .for([
    ...['ls', 'ls -R', 'cat "$1"', 'versions "$1"', '--json ls', 'completion bash', '--help', 'ls --help'],
    '--version',
  ])('on a full disk, %s prints one line and ends with status 1', async (command, { service, folder, site }) => {
  await site.put('a.txt', 'a')
  const { status, stderr } = await inShell(service, `run ${command} > ${full}`, `${folder}/a.txt`)
  expect(sentenceIn(stderr)).toMatch(noRoom)
  expect(status).toBe(1)
})

const onDisk = test.extend('disk', async ({ makeDirectory, skip }, { onCleanup }) => {
  const disk = noSmallDisk === undefined ? mountSmallDisk(join(await makeDirectory(), 'disk'), 1) : undefined
  if (!disk) return skip(noSmallDisk ?? 'no file system can be mounted here')
  onCleanup(disk.unmount)
  return disk
})

onDisk('cat fails if its output becomes full', async ({ service, disk, folder, site }) => {
  await site.put('long.txt', 'x'.repeat(10_000))
  disk.fill(4096)
  const file = join(disk.path, 'long.txt')
  const { status, stderr } = await inShell(service, 'run cat "$1" > "$2"', `${folder}/long.txt`, file)
  expect(statSync(file).size).toBe(4096)
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(noRoom) })
})

onDisk('a push from a read-only disk says that the disk is read-only', async ({ service, disk, folder }) => {
  writeFileSync(join(disk.path, 'a.txt'), 'a')
  disk.makeReadOnly()
  const pushed = await inShell(service, 'run push "$1" "$2"', disk.path, folder)
  expect(pushed).toMatchObject(outcome(1, messages.client.readOnly(join(disk.path, '.site-files'))))
})

test('a command that only prints succeeds when its pipe is closed', async ({ service, folder, site }) => {
  await site.put('long.bin', new Uint8Array(2_000_000))
  const path = `${folder}/long.bin`
  const quiet = { status: 0, stderr: '' }
  expect(await inShell(service, 'run cat "$1" | head -c 10 > /dev/null', path)).toMatchObject(quiet)
  expect(await inShell(service, unread('run ls -R'))).toMatchObject(quiet)
  expect(await inShell(service, unread('run put "$1" "$2"'), 'package.json', path)).toMatchObject(quiet)
})

test('a closed pipe ends a push, and the next push continues', async ({ service, makeDirectory, folder, site }) => {
  const texts = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}.txt`, `${index}`]))
  const tree = await makeDirectory(texts)
  const ended = await inShell(service, unread('run push "$1" "$2"'), tree, folder)
  expect(ended).toMatchObject(outcome(1, 'Stopped, because the output was closed'))
  expect(await inShell(service, 'run push "$1" "$2"', tree, folder)).toMatchObject({ status: 0 })
  expect(await site.texts()).toEqual(texts)
})
