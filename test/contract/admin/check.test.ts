import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, vi } from 'vitest'
import { checkDataDirectory } from '../../../lib/machine/check/check-directory.ts'
import { layoutOf } from '../../../lib/machine/directory/data-directory.ts'
import { takeLock } from '../../../lib/machine/directory/locks.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { administer, administerJson } from '../../support/administration.ts'
import { backUp, tamper } from '../../support/backups.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { snapshotOf } from '../../support/directory-snapshot.ts'
import { messages, phrase } from '../../support/messages.ts'
import { failing, faultAt, foundBy } from '../../support/outcomes.ts'
import { storage } from '../../support/paths.ts'
import { test } from '../../support/test.ts'

const object = (values: string) =>
  `INSERT INTO objects (key, blob, size, modified, type, version) VALUES (${values}, 'v');`
const folder = (key: string) => object(`'${key}/', NULL, 0, 0, ''`)
const blob = '0'.repeat(32)
const ofThreeBytes = (named = `'${blob}'`) => object(`'live/1001/a.txt', ${named}, 3, 0, 'text/plain'`)
const lostLink = 'INSERT INTO news_links (site, category, object, displayable) VALUES (1001, 1, 999, 1);'
const form = (fields: string) => `UPDATE web_forms SET fields = '${fields}' WHERE id = 1`

/** Rows that no request could read: the fault, the SQL that causes it, the table with the row, and the column. */
const unreadable = [
  ['JSON that is cut', form('[{'), 'web_forms, site 1001, id 1', 'fields'],
  ['an item without a member', form('[{"typeId":1,"mandatory":true}]'), 'web_forms, site 1001, id 1', 'fields'],
  ['a token with invalid permissions', "UPDATE grants SET permissions = '[1]'", 'grants, user demo', 'permissions'],
  [
    'a person without sites',
    `INSERT INTO people VALUES ('ann', 1, '{"name":"ann","displayName":"Ann","email":"","created":1,"sessions":1}')`,
    'people, key ann',
    'record',
  ],
  ['content of another id', `UPDATE blogs SET members = '{"id":9}' WHERE id = 8`, 'blogs, site 1001, id 8', 'members'],
  [
    'an upload without a target',
    "INSERT INTO uploads VALUES ('u', 1001, 'ann', '{}', '', 9, 9, 0, 1, 0, 1, NULL)",
    'uploads, site 1001, id u',
    'target',
  ],
  [
    'details that are a list',
    "INSERT INTO changes VALUES (1001, 5, 0, 'file.stored', 'a', 'ann', NULL, '[]')",
    'changes, site 1001, id 5',
    'details',
  ],
  [
    'a webhook without secrets',
    `INSERT INTO webhooks VALUES (1001, 'w', '{"targetUrl":"","subject":"","description":"","types":[],"retries":[]}', 1, 0, 0, 0)`,
    'webhooks, site 1001, id w',
    'record',
  ],
  [
    'a queued removal of a path with ..',
    "INSERT INTO removal_queue VALUES (1, 1001, '../a', 'x')",
    'removal_queue, site 1001, path ../a',
    'path',
  ],
  ['a file of an invalid site', folder('live/01001/a'), 'objects, key live/01001/a/', 'key'],
  ['a file of an unknown edition', folder('dead/1001/a'), 'objects, key dead/1001/a/', 'key'],
  ['a path with ..', folder('live/1001/../1002/a'), 'objects, key live/1001/../1002/a/', 'key'],
  ['a path with an empty name', folder('live/1001/a//b'), 'objects, key live/1001/a//b/', 'key'],
  ['a path that is not normalised', folder('draft/1001/a\u0308'), 'objects, key draft/1001/a\u0308/', 'key'],
  [
    'an old version at a path with ..',
    "INSERT INTO old_objects VALUES ('live/1001/..', 'v', NULL, 0, 0, '', NULL, 1, 1)",
    'old_objects, key live/1001/..',
    'key',
  ],
] as const

test('a database that check cannot open is not reported as damaged', async ({ siteDirectory }) => {
  const database = join(siteDirectory, 'site-admin.db')
  mkdirSync(`${database}-wal`, { mode: 0o700 })
  const fault = faultAt(database, phrase`^it cannot be opened. Check that it is a file … belongs to you.$`)
  expect(foundBy(await administer(siteDirectory, ['--json', 'check']))).toEqual({ status: 1, faults: [fault] })
  expect(await administer(siteDirectory, ['site', 'list'])).toEqual(failing(messages.directory.databaseLocked))
})

test('check gives up if another process opens the directory for too long', async ({ siteDirectory }) => {
  using _gate = takeLock(layoutOf(siteDirectory).locks.gate, 'exclusive')
  let passed = 0
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => (passed += 20_000))
  await expect(checkDataDirectory(siteDirectory)).rejects.toThrow(messages.directory.beingOpened)
})

test('check finds no fault in a sound directory, and changes nothing', async ({ siteDirectory }) => {
  const before = snapshotOf(siteDirectory)
  const outcome = await administer(siteDirectory, ['check'])
  expect(outcome).toMatchObject({ status: 0, stdout: messages.check.noFaults, stderr: '' })
  expect(await administerJson(siteDirectory, ['check'])).toEqual({ faults: [] })
  expect(snapshotOf(siteDirectory)).toMatchObject(before)
})

test('check finds no fault while the service runs, accepts uploads and searches names', async ({ directory, host }) => {
  const service = await host()
  // The second search removes the name from the index.
  for (const [path, method] of [
    ['/searched', 'PUT'],
    ['?search=searched', 'GET'],
    ['/searched', 'DELETE'],
    ['?search=searched', 'GET'],
  ] as const) {
    expect((await service.request(`${storage}${path}`, { method })).status).toBe(200)
  }
  let isOver = false
  const upload = async () => {
    for (let turn = 0; !isOver; turn += 1) {
      const body = 'x'.repeat(turn % 2 === 0 ? 30_000 : 200)
      expect((await service.request(`${storage}/file`, { method: 'PUT', body })).status).toBe(200)
    }
  }
  const uploads = [upload(), upload(), upload()]
  try {
    for (let turn = 0; turn < 3; turn += 1) expect(await administerJson(directory, ['check'])).toEqual({ faults: [] })
  } finally {
    isOver = true
    await Promise.all(uploads)
  }
  await service.stop()
  expect(await administerJson(directory, ['check'])).toEqual({ faults: [] })
})

test.for([
  ['a link to no object', lostLink, { where: 'site 1001, category 1', fault: messages.check.lostLink('news 999') }],
  [
    'an interrupted removal of content',
    'UPDATE blogs SET going = 1 WHERE id = 8',
    faultAt('site 1001, blog 8', 'its removal was interrupted'),
  ],
  [
    'an abandoned removal of a folder',
    `INSERT INTO folder_removals (site, folder, id, entry)
         VALUES (1001, 'a/b', 'x', '{"type":"folder.removed","subject":"a/b","actor":"ann"}')`,
    faultAt('site 1001, folder a/b', 'nothing continues it'),
  ],
  [
    'content without a file',
    "INSERT INTO small_contents (name, bytes) VALUES ('lost', x'00')",
    faultAt(/site-admin\.db$/, 'it contains the content lost, which belongs to no file'),
  ],
  [
    'a text without a news item',
    "INSERT INTO news_texts (site, id, text) VALUES (1001, 999, 'x')",
    faultAt(/site-admin\.db$/, 'of the table news_texts'),
  ],
  [
    'a file with entries below it',
    folder('live/1001/hello.txt'),
    faultAt('site 1001, file hello.txt', 'has entries below it. Rename or delete the file'),
  ],
  ['a file without bytes', ofThreeBytes('NULL'), faultAt('site 1001, file a.txt', 'no bytes')],
  [
    'a quota with a wrong count of used bytes (S-124)',
    'UPDATE sites SET quota = 9000000, used = 7 WHERE id = 1001',
    faultAt('site 1001', 'its quota counts 7 used bytes instead of '),
  ],
  [
    'a number that is too large to be read',
    `UPDATE objects SET size = ${2 ** 60} WHERE key LIKE 'live/1001/%.txt'`,
    faultAt(/site-admin\.db$/, 'the column size of the table objects'),
  ],
  ...unreadable.map(
    ([what, sql, row, column]) => [what, sql, { where: `table ${row}`, fault: messages.check.column(column) }] as const,
  ),
] as const)('check reports %s (T-21)', async ([, sql, fault], { demoDirectory }) => {
  tamper(demoDirectory, sql)
  expect(foundBy(await administer(demoDirectory, ['--json', 'check']))).toEqual({ status: 1, faults: [fault] })
})

test('check reports and backup counts more than a hundred faults of one kind (T-21)', async ({ siteDirectory }) => {
  const ids = JSON.stringify(Array.from({ length: 150 }, (_, index) => index + 5))
  const change = "1001, value, 0, 'file.stored', 'a', 'ann', NULL, '[]'"
  tamper(siteDirectory, `INSERT INTO changes SELECT ${change} FROM json_each('${ids}')`)
  expect(await checkDataDirectory(siteDirectory)).toHaveLength(150)
  const target = join(scratchDirectory(), 'backup')
  expect(await backUp(siteDirectory, target, { evenIfDamaged: true })).toMatchObject({ damaged: 150 })
})

test('check --bytes reports tables of a newer version, and reads no bytes', async ({ siteDirectory }) => {
  tamper(siteDirectory, 'PRAGMA user_version = 99')
  expect(await checkDataDirectory(siteDirectory, { withBytes: true })).toEqual([
    faultAt(join(siteDirectory, 'site-admin.db'), messages.directory.newer(99)),
    faultAt(/blobs$/, messages.check.bytesUnread),
  ])
})

test('check reports an empty database, and the service refuses it', async ({ siteDirectory }) => {
  const file = join(siteDirectory, 'site-admin.db')
  rmSync(file)
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE a (b); DROP TABLE a')
  database.close()
  chmodSync(file, 0o600)
  expect(await checkDataDirectory(siteDirectory)).toEqual([
    { where: file, fault: messages.check.damagedBy('it is empty') },
  ])
  await expect(openMachine(siteDirectory, { role: 'service' })).rejects.toThrow('it is empty')
})

test('check reports files without bytes along with other faults of the database', async ({ siteDirectory }) => {
  tamper(siteDirectory, lostLink + ofThreeBytes())
  expect(await checkDataDirectory(siteDirectory, { withBytes: true })).toMatchObject([
    { where: 'site 1001, category 1' },
    faultAt('site 1001, file a.txt', messages.check.bytesMissing),
  ])
})

test('check reports unused blobs if no service runs, and a start moves the blobs', async ({ siteDirectory, host }) => {
  const orphan = join(siteDirectory, 'blobs', 'orphan')
  writeFileSync(orphan, 'x')
  const { status, stdout } = await administer(siteDirectory, ['check'])
  expect(status).toBe(1)
  expect(stdout).toBe(`where${' '.repeat(orphan.length - 3)}fault\n${orphan}  ${messages.check.ofNoFileHere}\n`)
  await (await host()).stop()
  expect(await administerJson(siteDirectory, ['check'])).toEqual({ faults: [] })
})

test('check sees one state of the database, even while an upload is completed', async ({ siteDirectory }) => {
  writeFileSync(join(siteDirectory, 'blobs', blob), 'abc', { mode: 0o600 })
  tamper(
    siteDirectory,
    `INSERT INTO uploads VALUES ('u', 1001, 'ann', '{"path":"a.txt","key":"k","contentType":""}', '', 9, 3, 3, 1, 0, 1, '${blob}')`,
  )
  const { prepare } = DatabaseSync.prototype
  const preparing = vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, sql) {
    if (!sql.startsWith('SELECT site, id, CASE')) return prepare.call(this, sql)
    tamper(siteDirectory, `${ofThreeBytes()} DELETE FROM uploads`)
    return prepare.call(this, sql)
  })
  onTestFinished(() => preparing.mockRestore())
  expect(await checkDataDirectory(siteDirectory)).toEqual([])
})

test('check reports a folder of blobs that is a link to itself as one fault', async ({ siteDirectory }) => {
  const blobs = join(siteDirectory, 'blobs')
  tamper(siteDirectory, ofThreeBytes())
  rmSync(blobs, { recursive: true })
  symlinkSync('blobs', blobs)
  const fault = faultAt(blobs, messages.check.unreadable('ELOOP: '))
  expect(await checkDataDirectory(siteDirectory, { withBytes: true })).toEqual([fault])
})

test('check reports files and folders that other users can open', async ({ siteDirectory }) => {
  chmodSync(join(siteDirectory, 'site-admin.db'), 0o640)
  const fault = faultAt(join(siteDirectory, 'site-admin.db'), 'other users')
  expect(foundBy(await administer(siteDirectory, ['--json', 'check']))).toEqual({ status: 1, faults: [fault] })
})
