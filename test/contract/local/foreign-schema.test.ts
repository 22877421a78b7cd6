import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { checkDataDirectory } from '../../../lib/machine/check/check-directory.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { backUp, faultsOf, restore, tamper, test } from '../../support/backups.ts'
import { snapshotOf } from '../../support/directory-snapshot.ts'
import { messages, phrase } from '../../support/messages.ts'

const tablesIn = (directory: string): readonly string[] => {
  const database = new DatabaseSync(join(directory, 'site-admin.db'), { readOnly: true })
  const rows = database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT GLOB 'name_index_*'",
    )
    .all()
  database.close()
  return rows.map(({ name }) => String(name))
}

test('check, restore and the service notice each missing table', async ({
  backedUp: { data, folder, backup, restored },
}) => {
  const tables = tablesIn(backup)
  expect(tables.length).toBeGreaterThan(20)
  for (const table of tables) {
    const [saved, used] = [join(folder, `saved-${table}`), join(folder, `used-${table}`)]
    cpSync(backup, saved, { recursive: true })
    cpSync(data, used, { recursive: true })
    for (const directory of [saved, used]) tamper(directory, `DROP TABLE ${table}`)
    const fault = (directory: string) => ({
      where: join(directory, 'site-admin.db'),
      fault: messages.check.damagedBy(messages.check.tableMissing(table)),
    })
    expect(await checkDataDirectory(saved)).toContainEqual(fault(saved))
    expect(await checkDataDirectory(used)).toContainEqual(fault(used))
    await expect(restore(saved, restored)).rejects.toThrow(messages.check.tableMissing(table))
    await expect(openMachine(used)).rejects.toThrow(messages.directory.tableMissing(table))
  }
})

test('the service does not replace the lost tables of news by empty tables', async ({ backedUp: { data } }) => {
  tamper(data, 'DROP TABLE news; DROP TABLE news_links; DROP TABLE news_texts')
  await expect(openMachine(data)).rejects.toThrow(messages.directory.tableMissing('news'))
})

const { foreign, indexAltered, indexMissing, tableAltered } = messages.check

test.for([
  ['a trigger', 'CREATE TRIGGER evil AFTER INSERT ON objects BEGIN DELETE FROM objects; END', foreign('trigger evil')],
  ['a view', 'CREATE VIEW evil AS SELECT 1', foreign('view evil')],
  ['an index', 'CREATE INDEX evil ON Objects (size)', foreign('index evil')],
  ['a unique index', 'CREATE UNIQUE INDEX evil ON sites (name)', foreign('index evil')],
  ['an unknown column', 'ALTER TABLE sites ADD COLUMN evil INT DEFAULT 1', tableAltered('sites', 'evil INT DEFAULT 1')],
  ['a missing index', 'DROP INDEX objects_by_blob', indexMissing('objects_by_blob')],
  [
    'an index over other rows',
    'DROP INDEX going_news; CREATE INDEX going_news ON news (site, id) WHERE going = 0',
    indexAltered('going_news', 'WHERE going = 1, WHERE going = 0'),
  ],
] as const)('check, restore, backup and the service refuse %s (O-13)', async ([, sql, fault], { backedUp }) => {
  const { data, folder, backup, restored } = backedUp
  for (const directory of [data, backup]) tamper(directory, sql)
  const before = snapshotOf(data)
  for (const directory of [data, backup]) {
    expect(await checkDataDirectory(directory)).toEqual([
      { where: join(directory, 'site-admin.db'), fault: messages.check.damagedBy(fault) },
    ])
  }
  await expect(restore(backup, restored)).rejects.toThrow(fault)
  await expect(backUp(data, join(folder, 'again'))).rejects.toThrow(fault)
  await expect(openMachine(data, { role: 'service' })).rejects.toThrow(fault)
  expect(snapshotOf(data)).toEqual(before)
})

test('check accepts another table of a new kind or of SQLite', async ({ backedUp: { data, backup, restored } }) => {
  for (const directory of [data, backup]) {
    tamper(
      directory,
      `CREATE TABLE events (site INTEGER, id INTEGER, PRIMARY KEY (site, id)) STRICT;
         CREATE INDEX going_events ON events (id) WHERE id > 1; CREATE TABLE numbers (id INTEGER PRIMARY KEY AUTOINCREMENT);
         ANALYZE`,
    )
  }
  expect(await faultsOf(data)).toEqual([])
  await restore(backup, restored)
  const machine = await openMachine(restored, { role: 'service' })
  await machine.close()
})

test('unreadable rows are backed up only with --even-if-damaged', async ({
  backedUp: { data, folder, backup, restored },
}) => {
  for (const directory of [data, backup]) tamper(directory, "UPDATE web_forms SET fields = '[' WHERE id = 1")
  const target = join(folder, 'again')
  const fault = phrase`table web_forms, site 1001, id 1…the service cannot read its fields. `
  await expect(backUp(data, target)).rejects.toThrow(fault)
  await expect(restore(backup, restored)).rejects.toThrow(fault)
  const even = { evenIfDamaged: true }
  expect(await backUp(data, target, even)).toMatchObject({ damaged: 1 })
  expect(await restore(target, restored, even)).toMatchObject({ damaged: 1 })
})
