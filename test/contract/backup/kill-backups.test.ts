import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import { backUp, contentOf, faultsOf, read, restore, test, unfinishedIn } from '../../support/backups.ts'
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

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
  } catch {
    // The backup continued meanwhile.
    return []
  }
}

/** The step of a backup can be seen in the names in the unfinished folder. */
const steps: readonly (readonly [name: string, isReached: (unfinished: string) => boolean])[] = [
  ['it has begun', () => true],
  ['the database is being copied', (unfinished) => namesIn(unfinished).includes('site-admin.db')],
  ['blobs are being copied', (unfinished) => namesIn(join(unfinished, 'blobs')).length > 0],
  ['it is about to get its name', (unfinished) => namesIn(unfinished).some((name) => name.includes('backup.json'))],
]

test.for(steps)(
  'a backup that is killed when %s leaves nothing or a complete backup, and the next backup cleans up',
  async ([, isReached], { backedUp }) => {
    const { data, folder, restored } = backedUp
    const target = join(folder, 'next')
    await killWhen(['--data-dir', data, 'backup', target], () =>
      unfinishedIn(folder).some((name) => isReached(join(folder, name))),
    )

    for (const left of unfinishedIn(folder).map((name) => join(folder, name))) {
      // A backup that has its marker needs only its final name.
      if (namesIn(left).includes('site-admin-backup.json')) expect(await faultsOf(left)).toEqual([])
      else await expect(restore(left, restored)).rejects.toThrow(messages.backup.incomplete)
    }
    if (!existsSync(target)) await backUp(data, target)
    expect(await faultsOf(target)).toEqual([])
    expect(unfinishedIn(folder)).toEqual([])
    expect(await faultsOf(data)).toEqual([])
  },
)

test('a restoration that is killed again while it cleans up still blocks a start', async ({ backedUp, serve }) => {
  const { backup, restored } = backedUp
  const marker = join(restored, 'site-admin.json')
  mkdirSync(join(restored, 'blobs'), { recursive: true })
  writeFileSync(marker, JSON.stringify({ service: 'site-admin', layout: 1, ready: false, restoring: true }))
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
  const marker = { service: 'site-admin', layout: 1, ready: false, restoring: true }
  writeFileSync(join(restored, 'site-admin.json'), JSON.stringify(marker))

  await expect(startService(restored)).rejects.toThrow(messages.backup.restoreInterrupted)
  await restore(backup, restored)
  const service = await serve(restored)
  expect(service.token).toBe(token)
  expect(await read(service, 'large.bin')).toEqual(contentOf('a'))
})
