import { existsSync } from 'node:fs'
import { expect } from 'vitest'
import { test } from '../../../support/backups.ts'
import { messages } from '../../../support/messages.ts'
import { runInShell } from '../../../support/program.ts'

/** Linux creates nothing in this folder, and reports each folder below it as missing. */
const barren = '/proc'

test.skipIf(!existsSync(barren)).for([
  ['serve', `serve --port 0 --data-dir ${barren}/site-admin/data`],
  ['restore', `restore "$1" --data-dir ${barren}/site-admin`],
] as const)('if no directory can be created, %s prints a message', async ([, command], { backedUp: { backup } }) => {
  // A program that repeats the same call forever ignores other signals.
  const { status, stderr } = await runInShell(`timeout -s KILL 20 "$node" admin/main.js ${command}`, [backup])
  expect(stderr).toMatch(messages.directory.unwritable)
  expect(status).toBe(1)
})
