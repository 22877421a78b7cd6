import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { administer, administerJson, jsonLines } from '../../../support/administration.ts'
import { messages, phrase } from '../../../support/messages.ts'
import { failing } from '../../../support/outcomes.ts'
import { type Outcome, runInShell, sentenceIn, unread } from '../../../support/program.ts'
import { test } from '../../../support/test.ts'

/** A device that is always full. Only Linux has it. */
const full = '/dev/full'

const administerInto = (file: string, directory: string, command: string): Promise<Outcome> =>
  runInShell(`"$node" admin/main.js --data-dir "$1" ${command} > "$2"`, [directory, file])

const administerUnread = (directory: string, command: string): Promise<Outcome> =>
  runInShell(unread(`"$node" admin/main.js --data-dir "$1" ${command}`), [directory])

const noRoom = messages.output.full()
const issue = '--json token issue --user ann --site 1001'
const createWebhook = '--json webhook create --site 1001 --url https://127.0.0.1:1/'

test.skipIf(!existsSync(full)).for(['site list', 'check', 'backup "$1-backup"', '--help', '--version', issue] as const)(
  'on a full disk, %s prints one line and ends with status 1',
  async (command, { siteDirectory, onTestFinished }) => {
    onTestFinished(() => rmSync(`${siteDirectory}-backup`, { recursive: true, force: true }))
    const { status, stderr } = await administerInto(full, siteDirectory, command)
    expect([status, sentenceIn(stderr)]).toEqual([1, expect.stringMatching(noRoom)])
  },
)

test.skipIf(!existsSync(full)).for([
  ['bogus', 2],
  ['site show 9', 1],
] as const)('the exit status is the same without a message: %s', async ([command, status], { siteDirectory }) => {
  const outcome = await runInShell(`"$node" admin/main.js --data-dir "$1" ${command} 2> "$2"`, [siteDirectory, full])
  expect(outcome).toMatchObject({ status, stdout: '', stderr: '' })
})

test.for([
  ['completion bash', noRoom],
  ['export --site 1001', messages.output.full(' The export is incomplete. …')],
] as const)('%s fails if its output fills halfway', async ([command, reported], { siteDirectory, mountDisk }) => {
  // The export of these forms is larger than the smallest free space of a disk.
  const forms = Array.from({ length: 100 }, (_, index) => ({ kind: 'webForm', id: index + 1 }))
  await administer(siteDirectory, ['import', '-', '--site', '1001'], jsonLines(forms))
  const disk = mountDisk(1)
  disk.fill(4096)

  const file = join(disk.path, 'output')
  expect(await administerInto(file, siteDirectory, command)).toMatchObject(failing(reported))

  expect(statSync(file).size).toBe(4096)
})

test.for(['site list', '--help'] as const)('%s succeeds if its pipe is closed', async (command, { siteDirectory }) => {
  expect(await administerUnread(siteDirectory, command)).toMatchObject({ status: 0, stderr: '' })
})

const revoked = phrase`^Standard output cannot be written: …. Nobody saw the token, so it is revoked. Issue …$`

test.for([
  ['the output was full', (directory: string) => administerInto(full, directory, issue)],
  ['the output was closed', (directory: string) => administerUnread(directory, issue)],
] as const)('a new token is revoked at once because %s', async ([, lose], { siteDirectory }) => {
  const { status, stderr } = await lose(siteDirectory)
  expect([status, sentenceIn(stderr)]).toEqual([1, expect.stringMatching(revoked)])
  expect(await administerJson(siteDirectory, ['token', 'list'])).toEqual([])
  const changes = await administerJson(siteDirectory, ['audit', '--site', '1001', '--type', 'token.removed'])
  expect(changes).toHaveLength(1)
})

test.skipIf(!existsSync(full))('a webhook whose secret nobody saw is removed (V-31)', async ({ siteDirectory }) => {
  const { status, stderr } = await administerInto(full, siteDirectory, createWebhook)
  expect([status, sentenceIn(stderr)]).toEqual([1, expect.stringMatching(messages.output.webhookRemoved)])
  expect(await administerJson(siteDirectory, ['webhook', 'list', '--site', '1001'])).toEqual([])
})
