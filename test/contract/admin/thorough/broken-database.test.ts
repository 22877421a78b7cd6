import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { administer } from '../../../support/administration.ts'
import { messages, phrase } from '../../../support/messages.ts'
import { failing } from '../../../support/outcomes.ts'
import { noOtherUser, otherUser, runAsOther } from '../../../support/program.ts'
import { test } from '../../../support/test.ts'

/** Overwrites the first page of each table that matches a condition. SQLite can still open the database. */
const damageTables = (directory: string, which: string): void => {
  const file = join(directory, 'site-admin.db')
  const database = new DatabaseSync(file)
  const pages = database.prepare(`SELECT rootpage FROM sqlite_schema WHERE rootpage > 0 AND ${which}`).all()
  const size = Number(database.prepare('PRAGMA page_size').get()?.['page_size'])
  database.close()
  const bytes = readFileSync(file)
  for (const { rootpage } of pages) bytes.fill(0xff, (Number(rootpage) - 1) * size, Number(rootpage) * size)
  writeFileSync(file, bytes)
}

const changing = ['site create --name New', 'token issue --user ann --site 1001', 'form create --site 1001 --name New']
const all = [
  ...changing,
  ...['site remove 1001 --yes', 'site list', 'token list', 'export --site 1001', 'audit --site 1001'],
]
const wordsOf = (command: string) => command.split(' ')

test.for(all)('on a damaged database, %s prints advice in one line', async (command, { siteDirectory }) => {
  damageTables(siteDirectory, "tbl_name <> 'secrets'")
  const outcome = await administer(siteDirectory, wordsOf(command))
  expect(outcome).toEqual(failing(phrase` is damaged: …. Restore the directory from a backup, …$`))
  expect(outcome.stderr).toContain(siteDirectory)
})

test('site list prints advice in one line if its first table is damaged', async ({ siteDirectory }) => {
  damageTables(siteDirectory, "tbl_name = 'secrets'")
  expect(await administer(siteDirectory, ['site', 'list'])).toEqual(failing(messages.directory.cannotBeOpened))
})

test.skipIf(noOtherUser !== undefined).for(changing)(
  'on a read-only database, %s mentions permissions',
  async (command, { siteDirectory }) => {
    execFileSync('chown', ['-R', String(otherUser), siteDirectory])
    chmodSync(join(siteDirectory, 'site-admin.db'), 0o400)
    const outcome = await runAsOther('admin/main.js', ['--data-dir', siteDirectory, ...wordsOf(command)])
    expect(outcome).toMatchObject(failing(messages.directory.databaseReadOnly))
    expect(outcome.stderr).toContain(siteDirectory)
  },
)
