import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect } from 'vitest'
import { checkDirectory } from '../../../lib/machine/check/check-directory.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { administer } from '../../support/administration.ts'
import { restore, tamper, test } from '../../support/backups.ts'
import { startService } from '../../support/spawned-service.ts'

const tablesIn = (directory: string): readonly string[] => {
  const database = new DatabaseSync(join(directory, 'site-admin.db'), { readOnly: true })
  const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'").all()
  database.close()
  return rows.map(({ name }) => String(name))
}

describe('a database without one of its tables', () => {
  test('is named by check, and refused by restore and by whoever opens it, whichever it is', async ({
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
        fault: `it is damaged: the table ${table} is missing. Put it back from a backup.`,
      })
      expect(await checkDirectory(saved)).toContainEqual(fault(saved))
      expect(await checkDirectory(used)).toContainEqual(fault(used))
      await expect(restore(saved, restored)).rejects.toThrow(
        `the table ${table} is missing. Put it back from a backup. Name another backup.`,
      )
      await expect(openMachine(used)).rejects.toThrow(
        `is damaged: the table ${table} is missing. Put the directory back from a backup, `,
      )
    }
  })

  test('is refused by the service, by commands and by backup with what to do', async ({
    backedUp: { data, folder },
  }) => {
    tamper(data, 'DROP TABLE sites')
    const sentence =
      /^The database .+ is damaged: the table sites is missing\. Put the directory back from a backup, .+\n$/
    for (const args of [
      ['site', 'list'],
      ['backup', join(folder, 'again')],
    ]) {
      expect(await administer(data, args)).toMatchObject({
        status: 1,
        stdout: '',
        stderr: expect.stringMatching(sentence),
      })
    }
    await expect(startService(data)).rejects.toThrow(
      /the table sites is missing\. Put the directory back from a backup/,
    )
  })

  test('is refused when its tables are of a version that was never released, whatever is missing', async ({
    backedUp: { data },
  }) => {
    tamper(data, 'DROP TABLE backups; PRAGMA user_version = 5')
    await expect(openMachine(data)).rejects.toThrow(
      /^The data directory .+ cannot be opened: The database has tables of version 5, .+ Choose another data directory\.$/,
    )
  })
})
