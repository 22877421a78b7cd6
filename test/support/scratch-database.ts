import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Database, type DatabaseOptions, openDatabase } from '../../local/database.ts'

/** The file of a database that does not exist yet, in a folder that goes with the test. */
export const scratchFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'site-admin.db')
}

/** A database that is closed with the test. */
export const scratchDatabase = (file = scratchFile(), options: Partial<DatabaseOptions> = {}): Database => {
  const database = openDatabase(file, { durable: true, ...options })
  onTestFinished(() => database.close())
  return database
}
