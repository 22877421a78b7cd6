import type { DatabaseSync } from 'node:sqlite'
import { onDemand } from '../../core/cached-lookup.ts'
import { type ObjectKind, objectKindNames } from '../../core/content-kinds.ts'
import { longestWait } from './change-queue.ts'
import { connect } from './database.ts'
import { all, exists, fromRow, value } from './queries.ts'
import { contentTables, linkTables, newTables, tablesOf } from './tables.ts'

/** The `user_version` of the database is the version of its tables. */
const schemaVersion = 10

export const isEmpty = (connection: DatabaseSync): boolean =>
  !exists('SELECT 1 FROM sqlite_schema LIMIT 1')(connection)()

// Kinds of objects without tables: in a new database all kinds, otherwise the kinds that were added after the database
// was created.
const newKinds = (connection: DatabaseSync): readonly ObjectKind[] => {
  const hasTable = exists("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")(connection)
  return objectKindNames.filter((kind) => !hasTable(contentTables[kind].table))
}

const createTables = (connection: DatabaseSync): void => {
  const timeout = value<number>('PRAGMA busy_timeout')(connection)()
  connection.exec(`PRAGMA busy_timeout = ${longestWait}`)
  try {
    connection.exec('BEGIN IMMEDIATE')
    if (isEmpty(connection)) connection.exec(`${newTables}; PRAGMA user_version = ${schemaVersion}`)
    for (const kind of newKinds(connection)) connection.exec(tablesOf(kind))
    connection.exec('ANALYZE sqlite_schema;')
    connection.exec('COMMIT')
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK')
    throw error
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${timeout}`)
  }
}

/** The sentence that refuses tables of another version. Undefined for tables of this version. */
export const refusalOfTables = (connection: DatabaseSync): string | undefined => {
  const version = value<number>('PRAGMA user_version')(connection)() ?? 0
  if (version === schemaVersion) return undefined
  const advice =
    version > schemaVersion
      ? 'Use the newer version of the program that made them.'
      : 'No released version made them. Use the program that made them. It can export the sites (docs/moving.md).'
  return `The database has tables of version ${version}, but this program reads tables of version ${schemaVersion}. ${advice}`
}

/**
 * Creates the tables of a new database, and those of new kinds of objects, in one transaction. Throws an Error with a
 * sentence for the user when the tables are of another version.
 */
export const prepareSchema = (connection: DatabaseSync): void => {
  if (isEmpty(connection)) createTables(connection)
  const refusal = refusalOfTables(connection)
  if (refusal !== undefined) throw new Error(refusal)
  if (newKinds(connection).length > 0) createTables(connection)
}

interface Part {
  /** The table of an index or trigger, or the table or view itself. */
  readonly table: string
  readonly what: string
  readonly statement: string
}

// SQLite refuses a schema whose names differ from those in its statements.
const partsOf = all(
  `SELECT lower(tbl_name) AS "table", type || ' ' || name AS what, sql AS statement FROM sqlite_schema
   WHERE sql IS NOT NULL AND tbl_name NOT GLOB 'sqlite_*'`,
  fromRow<Part>({ statement: (sql: string) => sql.replaceAll(/--[^\n]*/g, '').replaceAll(/\s+/g, ' ') }),
)

// Every database has the tables of these kinds. When a database is opened, the tables of later kinds are created.
const firstKinds: readonly string[] = ['news', 'blog']

const tablesOfNewKind = (kind: ObjectKind, found: ReadonlySet<string>): readonly string[] => {
  const { table, texts } = contentTables[kind]
  const tables = [table, linkTables[kind], ...(texts === undefined ? [] : [texts])]
  return !firstKinds.includes(kind) && tables.every((name) => !found.has(name)) ? tables : []
}

const clausesMissingIn = (other: Part, { statement }: Part): readonly string[] =>
  statement.split(/ ?[(),] ?/).filter((clause) => !other.statement.includes(clause))

const compareParts = (found: readonly Part[], expected: readonly Part[]): readonly string[] => {
  const tables = new Set(found.map(({ table }) => table))
  const notYet = new Set(objectKindNames.flatMap((kind) => tablesOfNewKind(kind, tables)))
  const faults = expected.flatMap((part) => {
    const { what, table, statement } = part
    const own = found.find((other) => other.what === what)
    if (own?.statement === statement || notYet.has(table)) return []
    if (own)
      return [`the ${what} is altered: ${[...clausesMissingIn(own, part), ...clausesMissingIn(part, own)].join(', ')}`]
    return tables.has(table) || what.startsWith('table') ? [`the ${what} is missing`] : []
  })
  const known = new Set(expected.flatMap(({ table, what }) => [table, what]))
  // A newer program may have created further tables, for another kind of objects.
  const mayBeNewer = ({ table, what }: Part) => !known.has(table) && /^(?:table|index|trigger count_)/.test(what)
  const foreign = found.filter((part) => !known.has(part.what) && !mayBeNewer(part))
  return [...faults, ...foreign.map(({ what }) => `the ${what} is foreign: this program does not create it`)]
}

const expectedParts = onDemand((): readonly Part[] => {
  using sound = connect(':memory:')
  prepareSchema(sound)
  return partsOf(sound)()
})

/**
 * A sentence for each part of the schema that is missing, altered or foreign. A foreign trigger must be found, because
 * SQLite would run it.
 */
export const schemaFaults = (connection: DatabaseSync): readonly string[] =>
  compareParts(partsOf(connection)(), expectedParts())
