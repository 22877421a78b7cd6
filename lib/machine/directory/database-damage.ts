import { existsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { failureOf, isBusy, reasonOf } from '../../core/system-failures.ts'
import { connect, openImmutable } from '../sqlite/database.ts'
import type { DataDirectory } from './data-directory.ts'
import { adviceOnDamage } from './failures.ts'

/** Bytes, which takes about a second at every start. Only `check` reads all of a larger database. */
const largestChecked = 256 * 1024 ** 2

export type Depth = 'surface' | 'pages'

const whatToDo = `${adviceOnDamage} Nothing was changed.`

/** Milliseconds: a process that is being killed may still hold the database. */
const longestWait = 1_000

/** Opens a database for reading alone, and writes nothing beside it. The caller keeps others from opening it. */
const openQuietly = ({ database, wal }: DataDirectory): DatabaseSync => {
  if (existsSync(wal)) return connect(database, { readOnly: true, timeout: longestWait })
  return openImmutable(database)
}

export const damageIn = (answer: unknown): string | undefined =>
  answer === 'ok' ? undefined : String(answer).replaceAll(/\s+/g, ' ')

const innerDamageOf = (connection: DatabaseSync, depth: Depth): string | undefined => {
  const tables = connection.prepare('SELECT count(*) AS count FROM sqlite_schema').get()
  if (tables?.['count'] === 0) return 'it holds nothing'
  if (depth === 'surface') return undefined
  const [first] = connection.prepare('PRAGMA quick_check(1)').all()
  return damageIn(first?.['quick_check'])
}

const readQuietly = <Found>(directory: DataDirectory, read: (connection: DatabaseSync) => Found): Found => {
  const connection = openQuietly(directory)
  try {
    return read(connection)
  } finally {
    connection.close()
  }
}

const tryToRead = (directory: DataDirectory, depth: Depth): string | undefined => {
  const { database } = directory
  const damaged = (damage: string) => `The database ${database} is damaged: ${damage}. ${whatToDo}`
  try {
    const damage = readQuietly(directory, (connection) => innerDamageOf(connection, depth))
    return damage === undefined ? undefined : damaged(damage)
  } catch (error) {
    if (failureOf(error) === 'cannotOpen') {
      return (
        `The database ${database} cannot be opened. Check that it is a file, and that you are the user who owns it. ` +
        'Nothing was changed.'
      )
    }
    if (!isBusy(error)) return damaged(reasonOf(error))
    return (
      `The database ${database} is in use by another process. Repeat this when that process has ended. Nothing was ` +
      'changed.'
    )
  }
}

/**
 * The database was not closed cleanly, and its newest changes are lost. The caller keeps others from opening and
 * closing it.
 */
export const lacksWal = ({ running, wal }: DataDirectory): boolean => existsSync(running) && !existsSync(wal)

/**
 * The sentence on a database that cannot be opened; undefined when it can. Changes nothing. The caller has the
 * directory for itself.
 */
export const damageOf = (directory: DataDirectory, depth: Depth): string | undefined => {
  const { path, database, wal, running } = directory
  const size = statSync(database, { throwIfNoEntry: false })?.size
  if (size === undefined) {
    return `The database ${database} is missing, though the data directory ${path} has been in use. ${whatToDo}`
  }
  if (size === 0)
    return `The database ${database} is empty, though the data directory ${path} has been in use. ${whatToDo}`
  if (lacksWal(directory)) {
    return (
      `The file ${wal} is missing, though the service did not end cleanly (${running} is there): the newest changes ` +
      'are lost with it. Put it back, or put the directory back from a backup. If you can do without those changes, ' +
      `remove ${running}. Nothing was changed.`
    )
  }
  return tryToRead(directory, size > largestChecked ? 'surface' : depth)
}

/** The numbers of sites and files; undefined when the database cannot be read. Changes nothing, as `damageOf`. */
export const contentsOf = (directory: DataDirectory) => {
  if (damageOf(directory, 'pages') !== undefined) return undefined
  const query = 'SELECT (SELECT count(*) FROM sites) AS sites, count(blob) AS files FROM objects'
  try {
    return readQuietly(directory, (connection) => connection.prepare(query).get())
  } catch {
    return undefined
  }
}
