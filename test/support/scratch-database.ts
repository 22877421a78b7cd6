import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { DatabaseOptions } from '../../lib/machine/sqlite/change-queue.ts'
import { type Database, openDatabase } from '../../lib/machine/sqlite/database.ts'
import { prepareSchema } from '../../lib/machine/sqlite/schema.ts'
import { scratchDirectory } from './directory.ts'

export const scratchFile = (): string => join(scratchDirectory(), 'site-admin.db')

export const scratchDatabase = (file = scratchFile(), options: Partial<DatabaseOptions> = {}): Database => {
  const database = openDatabase(file, { durable: true, ...options })
  onTestFinished(() => database.close())
  return database
}

export const scratchTables = (file = scratchFile(), options: Partial<DatabaseOptions> = {}): Database => {
  const database = scratchDatabase(file, options)
  prepareSchema(database.connection)
  return database
}

export const openWords = (file = scratchFile(), options = {}) => {
  const database = scratchDatabase(file, options)
  const { connection } = database
  connection.exec('CREATE TABLE IF NOT EXISTS words (number INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE) STRICT')
  const insert = connection.prepare('INSERT INTO words (word) VALUES (?)')
  return {
    file,
    database,
    connection,
    add: (word: string) => database.write(() => void insert.run(word)),
    words: () =>
      connection
        .prepare('SELECT word FROM words ORDER BY number')
        .all()
        .map(({ word }) => word),
  }
}
