import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { administer, administerApart } from '../../../support/administration.ts'
import { backUp, blobOf, faultsOf, restore, tamper, test } from '../../../support/backups.ts'
import { messages, phrase } from '../../../support/messages.ts'
import { failing, faultAt, foundBy } from '../../../support/outcomes.ts'
import { storage } from '../../../support/paths.ts'

/** Damaged files may be restored on request. Names that lead out of the folder are always refused. */
const even = { evenIfDamaged: true, withBytes: true }

const upload = (kept: number, complete: 0 | 1, blob: string) =>
  `INSERT INTO uploads VALUES ('u', 1001, 'ann', '{}', '', 9, 9, ${kept}, ${complete}, 0, 1, '${blob}')`

const elsewhere = [
  ['of a file', "UPDATE objects SET blob = '../../secret.txt' WHERE key LIKE '%large.bin'", 'objects'],
  ['of a small file', "UPDATE objects SET blob = '../../secret.txt' WHERE key LIKE '%small.txt'", 'objects'],
  [
    'of an old version',
    "INSERT INTO old_objects VALUES ('live/1001/a', 'v', '/etc/passwd', 9, 0, 'text/plain', NULL, 1, 0)",
    'old_objects',
  ],
  ['of an upload', upload(5, 0, '../../victim'), 'uploads'],
  ['of an upload without bytes', upload(0, 0, '../../victim'), 'uploads'],
  ['of a complete upload', upload(5, 1, '../../victim'), 'uploads'],
  ['that contains a path', upload(5, 1, `${'0'.repeat(32)}/../../victim`), 'uploads'],
] as const

test.for(elsewhere)('restore, backup and check refuse the blob name %s', async ([, sql, table], { backedUp }) => {
  const { data, folder, backup, restored } = backedUp
  const finding = phrase`is damaged: 1 row of the table ${table} has an invalid blob name`
  tamper(backup, sql)
  expect(await faultsOf(backup)).toEqual([
    faultAt(join(backup, 'site-admin.db'), finding),
    faultAt(/blobs$/, messages.check.bytesUnread),
  ])
  await expect(restore(backup, restored, even)).rejects.toThrow(finding)
  expect(existsSync(restored)).toBe(false)

  tamper(data, sql)
  await expect(backUp(data, join(folder, 'again'), even)).rejects.toThrow(finding)
  expect(existsSync(join(folder, 'again'))).toBe(false)
})

test('a service neither serves nor removes a blob elsewhere', async ({ backedUp: { data, folder }, serve }) => {
  const [secret, ...victims] = ['secret.txt', 'victim1', 'victim2', 'victim3'].map((name) => join(folder, name))
  for (const file of [secret, ...victims]) writeFileSync(String(file), 'x'.repeat(40_064))
  tamper(
    data,
    `UPDATE objects SET blob = '../../secret.txt' WHERE key LIKE '%large.bin';
       INSERT INTO old_objects VALUES ('live/1001/a', 'v', '../../victim1', 9, 0, 'text/plain', NULL, 1, 0);
       INSERT INTO uploads VALUES ('u', 1001, 'ann', '{}', '', 9, 9, 0, 0, 0, 1, '../../victim2');
       INSERT INTO uploads VALUES ('v', 1001, 'ann', '{}', '', 9, 9, 5, 1, 0, 1, '../../victim3')`,
  )
  const service = await serve(data)
  expect((await service.request(`${storage}/large.bin`)).status).toBe(500)
  expect((await service.request(`${storage}/small.txt`)).status).toBe(200)
  await service.stop()
  expect([secret, ...victims].filter((file) => !existsSync(String(file)))).toEqual([])
})

for (const name of ['site-admin-backup.json', 'site-admin.db', 'site-admin.db-wal', 'demo.json']) {
  test(`a pipe in a backup does not block: ${name}`, async ({ backedUp: { backup, restored }, signal }) => {
    const file = join(backup, name)
    await rm(file, { force: true })
    execFileSync('mkfifo', ['-m', '600', file])
    for (const [directory, args] of [
      [restored, ['restore', backup]],
      [backup, ['check', '--bytes']],
    ] as const) {
      const outcome = await administerApart(directory, [...args], '', signal)
      expect(outcome).toMatchObject(failing(phrase`${name} is neither a file nor a folder. …$`))
    }
    expect(existsSync(restored)).toBe(false)
  })
}

test('a pipe in place of the marker of the directory blocks no command', async ({ backedUp: { data }, signal }) => {
  const file = join(data, 'site-admin.json')
  await rm(file)
  execFileSync('mkfifo', ['-m', '600', file])
  const outcome = await administerApart(data, ['site', 'list'], '', signal)
  expect(outcome).toMatchObject(failing(messages.directory.pipe))
})

test('a pipe in place of a blob blocks no command', async ({ backedUp: { backup, restored }, signal }) => {
  const blob = blobOf(backup)
  await rm(blob)
  execFileSync('mkfifo', ['-m', '600', blob])
  expect(foundBy(await administerApart(backup, ['--json', 'check', '--bytes'], '', signal))).toMatchObject({
    status: 1,
    faults: [faultAt('site 1001, file large.bin', messages.check.notAFile)],
  })
  const restoring = await administerApart(restored, ['restore', backup], '', signal)
  expect(restoring).toMatchObject(failing(messages.check.noFile))
})

test.for([
  ['site-admin.db', messages.backup.link],
  ['demo.json', messages.backup.link],
  ['blobs', 'is not a folder'],
] as const)(
  'a link in place of %s does not lead out of the backup',
  async ([name, what], { backedUp: { folder, backup, restored } }) => {
    renameSync(join(backup, name), join(folder, 'elsewhere'))
    symlinkSync(join(folder, 'elsewhere'), join(backup, name))
    const found = new RegExp(`${name} ${what}`)
    await expect(restore(backup, restored, even)).rejects.toThrow(found)
    expect(existsSync(restored)).toBe(false)
    const { status, stdout, stderr } = await administer(backup, ['check'])
    expect({ status, reported: stdout + stderr }).toEqual({ status: 1, reported: expect.stringMatching(found) })
  },
)

test('a link in place of a blob is not followed', async ({ backedUp: { data, folder, backup, restored } }) => {
  for (const directory of [data, backup]) {
    const blob = blobOf(directory)
    renameSync(blob, join(directory, 'elsewhere'))
    symlinkSync(join(directory, 'elsewhere'), blob)
    const fault = faultAt('site 1001, file large.bin', messages.check.notAFile)
    expect(await faultsOf(directory)).toMatchObject([fault])
  }
  await expect(backUp(data, join(folder, 'again'))).rejects.toThrow(messages.check.noFile)
  await expect(restore(backup, restored)).rejects.toThrow(messages.check.noFile)
})

test('a marker that is far too large is not read', async ({ backedUp: { backup, restored } }) => {
  truncateSync(join(backup, 'site-admin-backup.json'), 3_000_000_000)
  expect(await administer(restored, ['restore', backup])).toEqual(failing(messages.backup.tooLarge))
})

test('control characters of a marker do not reach the terminal', async ({ backedUp: { backup, restored } }) => {
  const marker = join(backup, 'site-admin-backup.json')
  const whole = JSON.parse(readFileSync(marker, 'utf8'))
  const red = '\u001b[31m'
  for (const text of [JSON.stringify({ ...whole, layout: 9, version: `1.0.0${red}` }), `{"version":${red}`]) {
    writeFileSync(marker, text)
    expect(await administer(restored, ['restore', backup])).toEqual(failing(/^The backup [^\p{Cc}]+\n$/u))
  }
})
