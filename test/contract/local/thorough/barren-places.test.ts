import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from '../../../support/backups.ts'
import { messages } from '../../../support/messages.ts'
import { failing } from '../../../support/outcomes.ts'
import { runInShell } from '../../../support/program.ts'

/** Linux creates nothing in this folder, and reports each folder below it as missing. */
const barren = '/proc'

test.skipIf(!existsSync(barren)).for([
  ['serve', `serve --port 0 --data-dir ${barren}/site-admin/data`],
  ['restore', `restore "$1" --data-dir ${barren}/site-admin`],
] as const)('if no directory can be created, %s prints a message', async ([, command], { backedUp: { backup } }) => {
  // A program that repeats the same call forever ignores other signals.
  const outcome = await runInShell(`timeout -s KILL 20 "$node" admin/main.js ${command}`, [backup])
  expect(outcome).toMatchObject(failing(messages.directory.unwritable('/proc/', 'ENOENT')))
})

test('if the database cannot be written at the start, npm start prints a message', async ({ backedUp: { folder } }) => {
  // Each file may have at most 300 KiB. The database needs more.
  const line = 'ulimit -f 300; exec "$node" local/main.js --port 0 --data-dir "$1"'
  const outcome = await runInShell(line, [join(folder, 'small')])
  expect(outcome).toMatchObject(failing('The database cannot be used: disk I/O error. Check its disk'))
})
