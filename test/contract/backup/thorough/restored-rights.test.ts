import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { administer } from '../../../support/administration.ts'
import { blobOf, test } from '../../../support/backups.ts'
import { snapshotOf } from '../../../support/directory-snapshot.ts'
import { messages } from '../../../support/messages.ts'
import { failing, faultAt, foundBy } from '../../../support/outcomes.ts'
import { noOtherUser, otherUser, runAsOther } from '../../../support/program.ts'

const give = (path: string) => execFileSync('chown', ['-R', `${otherUser}:${otherUser}`, path])

/** The owners of a folder and of all entries below it. */
const ownersIn = (folder: string): ReadonlySet<string> => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Set(
    [folder, ...names.map((name) => join(folder, name))].map((path) => {
      const { uid, gid } = lstatSync(path)
      return `${uid}:${gid}`
    }),
  )
}

describe.skipIf(noOtherUser !== undefined)('a restoration by root into a directory of another user', () => {
  test('the restored directory belongs to the user of the service, the backup to root', async ({ backedUp }) => {
    const { data, folder, backup, restored } = backedUp
    expect(lstatSync(blobOf(backup)).ino).toBe(lstatSync(blobOf(data)).ino)
    chmodSync(folder, 0o755)
    mkdirSync(restored)
    give(restored)

    expect(await administer(restored, ['restore', backup])).toMatchObject({ status: 0 })

    for (const own of [data, backup]) expect([...ownersIn(own)]).toEqual(['0:0'])
    expect([...ownersIn(restored)]).toEqual([`${otherUser}:${otherUser}`])
    const check = await runAsOther('admin/main.js', ['--data-dir', restored, 'check', '--bytes'])
    expect(check).toMatchObject({ status: 0, stdout: messages.check.noFaults, stderr: '' })
    const create = await runAsOther('admin/main.js', ['--data-dir', restored, 'site', 'create', '--name', 'New'])
    expect(create).toMatchObject({ status: 0, stderr: '' })
  })

  test('blobs that already belong to the user of the service are linked, not copied', async ({ backedUp }) => {
    const { backup, restored } = backedUp
    mkdirSync(restored)
    give(restored)
    give(backup)

    expect(await administer(restored, ['restore', backup])).toMatchObject({ status: 0 })

    expect(lstatSync(blobOf(restored)).ino).toBe(lstatSync(blobOf(backup)).ino)
  })

  test('if a blob or its folder belongs to root, check and backup name it', async ({ backedUp }) => {
    const { folder, data } = backedUp
    const again = join(folder, 'again')
    const asOther = (...words: string[]) => runAsOther('admin/main.js', ['--data-dir', data, ...words])
    chmodSync(folder, 0o755)
    give(folder)
    execFileSync('chown', ['root:root', blobOf(data)])
    const unreadable = `${blobOf(data)}, it cannot be read: EACCES: `
    expect(await asOther('backup', again)).toMatchObject(failing(unreadable))
    const others = await asOther('--json', 'backup', again, '--even-if-damaged')
    expect(JSON.parse(others.stdout)).toMatchObject({ damaged: 1 })
    const finding = faultAt('site 1001, file large.bin', 'cannot be read: EACCES: ')
    expect(foundBy(await asOther('--json', 'check', '--bytes'))).toEqual({ status: 1, faults: [finding] })

    execFileSync('chown', ['root:root', join(data, 'blobs')])
    const ofFolder = faultAt(join(data, 'blobs'), messages.check.onlyRights)
    expect(foundBy(await asOther('--json', 'check'))).toEqual({ status: 1, faults: [ofFolder] })
  })

  test.for([
    ['site-admin.json', ['serve', '--port', '0']],
    ['site-admin.json', ['serve', '--port', '0', '--reset']],
    ['site-admin.db', ['serve', '--port', '0']],
    ['demo.json', ['serve', '--port', '0']],
    ['locks', ['site', 'list']],
    ['locks', ['check']],
  ] as const)('if %s belongs to root, the message names the user: %j', async ([name, words], { backedUp }) => {
    const { folder, data } = backedUp
    chmodSync(folder, 0o755)
    give(data)
    execFileSync('chown', ['-R', 'root:root', join(data, name)])
    const before = snapshotOf(data)

    const { status, stderr } = await runAsOther('admin/main.js', ['--data-dir', data, ...words])

    expect(stderr).toMatch(/^[^\n]+ [^\n]*the user [^\n]+\n$/)
    expect(stderr).not.toContain('--reset')
    expect(status).toBe(1)
    expect(snapshotOf(data)).toEqual(before)
  })
})

test.skipIf(noOtherUser !== undefined)('an unreadable backup is reported with its rights', async ({ backedUp }) => {
  const { folder, backup, restored } = backedUp
  chmodSync(folder, 0o755)
  const outcome = await runAsOther('admin/main.js', ['--data-dir', restored, 'restore', backup])
  expect(outcome).toMatchObject(failing(messages.backup.unreadable))
  expect(outcome.stderr).not.toContain('Name another backup')
})
