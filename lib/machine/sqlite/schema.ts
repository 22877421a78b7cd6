import { DatabaseSync } from 'node:sqlite'
import { type ObjectKind, objectKindNames } from '../../core/content-kinds.ts'
import { contentTables, linkTables, newTables, tablesOf } from './tables.ts'

/** The database itself holds the version of its tables as its `user_version`. */
export const schemaVersion = 6

/** Milliseconds to wait for another process that makes the tables of the same database. */
const longestWait = 5_000

export const versionOf = (connection: DatabaseSync): number =>
  Number(connection.prepare('PRAGMA user_version').get()?.['user_version'])

export const isEmpty = (connection: DatabaseSync): boolean =>
  connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined

/**
 * Kinds of objects without tables: all of them in a new database, and those that the program which made it did not
 * know.
 */
const newKinds = (connection: DatabaseSync): readonly ObjectKind[] => {
  const table = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
  return objectKindNames.filter((kind) => table.get(contentTables[kind].table) === undefined)
}

const create = (connection: DatabaseSync): void => {
  connection.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have made them meanwhile.
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

const createTables = (connection: DatabaseSync): void => {
  const timeout = Number(connection.prepare('PRAGMA busy_timeout').get()?.['timeout'])
  connection.exec(`PRAGMA busy_timeout = ${longestWait}`)
  try {
    create(connection)
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${timeout}`)
  }
}

/** The sentence that refuses tables of another version; undefined for those of this one. */
export const refusalOfTables = (version: number): string | undefined => {
  if (version === schemaVersion) return undefined
  const advice =
    version > schemaVersion
      ? 'Start the newer version of the program that made them.'
      : 'No released version made them. Choose another data directory.'
  return (
    `The database has tables of version ${version}, and this program reads those of version ${schemaVersion}. ` +
    `${advice}`
  )
}

/**
 * Makes the tables of a new database, and those of new kinds of objects, in one transaction. Throws an Error with a
 * sentence when the tables are of another version.
 */
export const prepareSchema = (connection: DatabaseSync): void => {
  if (isEmpty(connection)) createTables(connection)
  const refusal = refusalOfTables(versionOf(connection))
  if (refusal !== undefined) throw new Error(refusal)
  if (newKinds(connection).length > 0) createTables(connection)
}

type Tables = ReadonlyMap<string, ReadonlySet<string>>

const tablesIn = (connection: DatabaseSync): Tables => {
  const columns = connection
    .prepare(
      `SELECT own.name AS own, their.name AS their FROM sqlite_schema AS own, pragma_table_info(own.name) AS their
       WHERE own.type = 'table' AND own.name NOT LIKE 'sqlite!_%' ESCAPE '!'`,
    )
    .all()
  const byTable = Map.groupBy(columns, ({ own }) => String(own))
  return new Map([...byTable].map(([table, rows]) => [table, new Set(rows.map(({ their }) => String(their)))]))
}

const expectedTables = (): Tables => {
  const connection = new DatabaseSync(':memory:')
  try {
    prepareSchema(connection)
    return tablesIn(connection)
  } finally {
    connection.close()
  }
}

/** Every database has the tables of these kinds. Those of a later kind are made when it is opened. */
const firstKinds: readonly string[] = ['news', 'blog']

const tablesOfNewKind = (kind: ObjectKind, found: Tables): readonly string[] => {
  const { table, texts } = contentTables[kind]
  const tables = [table, linkTables[kind], ...(texts === undefined ? [] : [texts])]
  return !firstKinds.includes(kind) && tables.every((name) => !found.has(name)) ? tables : []
}

/**
 * A sentence for each table and column that is missing. SQLite itself finds nothing wrong with a database without them.
 */
export const missingTables = (connection: DatabaseSync): readonly string[] => {
  const found = tablesIn(connection)
  const notYet = new Set(objectKindNames.flatMap((kind) => tablesOfNewKind(kind, found)))
  return [...expectedTables()].flatMap(([table, columns]) => {
    const own = found.get(table)
    if (!own) return notYet.has(table) ? [] : [`the table ${table} is missing`]
    return [...columns]
      .filter((column) => !own.has(column))
      .map((column) => `the table ${table} has no column ${column}`)
  })
}
