import type { DatabaseSync } from 'node:sqlite'
import { type ObjectKind, objectKindNames } from '../../core/content-kinds.ts'
import { contentTables, migrations, newTables, tablesOf } from './tables.ts'

/** The version of the tables, which the database itself holds as its `user_version`. */
export const schemaVersion = migrations.length + 1

/** What takes the tables of an earlier version to this one, step by step; nothing for those of this one. */
export const stepsFrom = (version: number): readonly string[] => migrations.slice(version - 1)

/** How long another process is waited for that makes the tables of the same database, in milliseconds. */
const patience = 5_000

export const versionOf = (connection: DatabaseSync): number =>
  Number(connection.prepare('PRAGMA user_version').get()?.['user_version'])

/** Whether there are no tables at all. */
export const isEmpty = (connection: DatabaseSync): boolean =>
  connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined

/** The kinds of objects that have no tables yet: all of them in a new database, and those that an earlier program has not known. */
const newKinds = (connection: DatabaseSync): readonly ObjectKind[] => {
  const table = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
  return objectKindNames.filter((kind) => table.get(contentTables[kind].table) === undefined)
}

/** From this version on, objects have fingerprints. */
export const versionOfFingerprints = 2

/** From this version on, what was replaced or removed is kept. */
export const versionOfOldObjects = 5

/** Whether the tables are those of an earlier version, which can be taken further. */
export const isEarlier = (version: number): boolean => version >= 1 && version < schemaVersion

/** Takes the tables of an earlier version to this one, with all that is in them. */
const migrate = (connection: DatabaseSync): void => {
  const version = versionOf(connection)
  if (!isEarlier(version)) return
  for (const step of stepsFrom(version)) connection.exec(step)
  connection.exec(`PRAGMA user_version = ${schemaVersion}`)
}

const create = (connection: DatabaseSync): void => {
  connection.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have made or changed them meanwhile.
    migrate(connection)
    if (isEmpty(connection)) {
      for (const part of newTables) connection.exec(part)
      connection.exec(`PRAGMA user_version = ${schemaVersion}`)
    }
    for (const kind of newKinds(connection)) connection.exec(tablesOf(kind))
    connection.exec('ANALYZE sqlite_schema;')
    connection.exec('COMMIT')
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK')
    throw error
  }
}

const createPatiently = (connection: DatabaseSync): void => {
  const timeout = Number(connection.prepare('PRAGMA busy_timeout').get()?.['timeout'])
  connection.exec(`PRAGMA busy_timeout = ${patience}`)
  try {
    create(connection)
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${timeout}`)
  }
}

/** Why this program cannot work with the tables of a version, and what to do about it; undefined when it can. */
export const refusalOfTables = (version: number): string | undefined => {
  if (version === schemaVersion || isEarlier(version)) return undefined
  return version > schemaVersion
    ? `The database has tables of version ${version}, and this program knows those of version ${schemaVersion}. Start the newer version of the program that made them.`
    : `The database has tables of version ${version}, which this program has not made: it makes those of version ${schemaVersion}. Choose another data directory.`
}

/**
 * Makes the tables in a new database, and those of new kinds of objects in one that there is, and takes those of an earlier version to this one: in one
 * transaction. Throws an Error with a sentence when the tables that there are can be none of these.
 */
export const prepareSchema = (connection: DatabaseSync): void => {
  if (isEmpty(connection) || isEarlier(versionOf(connection))) createPatiently(connection)
  const refusal = refusalOfTables(versionOf(connection))
  if (refusal !== undefined) throw new Error(refusal)
  if (newKinds(connection).length > 0) createPatiently(connection)
}
