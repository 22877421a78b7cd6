import { copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import { backUp, contentOf, faultsOf, read, restore, test } from '../../support/backups.ts'
import { messages } from '../../support/messages.ts'
import { launch } from '../../support/program.ts'
import { startService } from '../../support/spawned-service.ts'

/** Kills `site-admin` as soon as a condition is true, unless it ends earlier. */
const killWhen = async (args: readonly string[], isReached: () => boolean): Promise<void> => {
  const program = launch('admin/main.js', args)
  let hasEnded = false
  void program.ended.then(() => {
    hasEnded = true
  })
  while (!hasEnded && !isReached()) await turn()
  program.kill('SIGKILL')
  await program.ended
}

/** Makes a directory look as if a restoration into it had been killed. */
const makeUnfinished = (restored: string): string => {
  const marker = join(restored, 'site-admin.json')
  writeFileSync(marker, JSON.stringify({ service: 'site-admin', layout: 1, ready: false, restoring: true }))
  return marker
}

test('a restoration that is killed again while it cleans up still blocks a start', async ({ backedUp, serve }) => {
  const { backup, restored } = backedUp
  mkdirSync(join(restored, 'blobs'), { recursive: true })
  const marker = makeUnfinished(restored)
  // The directory has so many files that removing them takes a while.
  for (let index = 0; index < 20_000; index += 1) writeFileSync(join(restored, 'blobs', String(index)), '')
  const { ino } = statSync(marker)

  await killWhen(['--data-dir', restored, 'restore', backup], () => statSync(marker).ino !== ino)

  await expect(serve(restored)).rejects.toThrow(messages.backup.restoreInterrupted)
})

test('after a killed restoration, no service starts until a restoration succeeds', async ({ backedUp, serve }) => {
  const { backup, restored, token } = backedUp
  await killWhen(['--data-dir', restored, 'restore', backup], () => existsSync(join(restored, 'site-admin.db')))
  // If the restoration ended before the kill, the directory is complete. Then the test makes it unfinished again.
  makeUnfinished(restored)
  const signal = AbortSignal.abort(Object.assign(new Error('Full'), { code: 'ENOSPC' }))
  await expect(restore(backup, restored, { signal })).rejects.toThrow(messages.backup.restoreFullAgain)

  await expect(startService(restored)).rejects.toThrow(messages.backup.restoreInterrupted)
  await restore(backup, restored)
  const service = await serve(restored)
  expect(service.token).toBe(token)
  expect(await read(service, 'large.bin')).toEqual(contentOf('a'))
})

/** The journal of a transaction that is killed while it changes a large table. */
const leaveJournal = (database: string, copy: string): void => {
  const killed = new DatabaseSync(database)
  killed.exec(`PRAGMA cache_size = 1; CREATE TABLE words AS SELECT value, hex(zeroblob(2000)) AS word
    FROM json_each('[${Array.from({ length: 500 }, (_, index) => index)}]')`)
  killed.exec("BEGIN; UPDATE words SET word = 'short'; DROP TABLE words")
  copyFileSync(`${database}-journal`, copy)
  killed.close()
}

test('a restoration keeps nothing of a killed restoration of another backup', async ({ backedUp }) => {
  const { folder, backup, restored, data } = backedUp
  const other = join(folder, 'other')
  await backUp(data, other)
  await restore(backup, restored)
  leaveJournal(join(other, 'site-admin.db'), join(restored, 'site-admin.db-journal'))
  makeUnfinished(restored)
  await restore(backup, restored)
  expect(await faultsOf(restored)).toEqual([])
})
