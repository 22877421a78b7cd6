import { DatabaseSync } from 'node:sqlite'
import { type ObjectKind, objectKindNames } from '../../core/content-kinds.ts'
import { prepareSchema, stepsFrom, versionOf } from './schema.ts'
import { contentTables, linkTables } from './tables.ts'

/** The columns of each table, by its name. */
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

/** The tables as this program makes them. */
const tablesAsMade = (): Tables => {
  const connection = new DatabaseSync(':memory:')
  try {
    prepareSchema(connection)
    return tablesIn(connection)
  } finally {
    connection.close()
  }
}

/** What the steps from a version on add, as `table` and `table.column`: a database of that version has none of it yet. */
const addedSince = (version: number): ReadonlySet<string> => {
  const steps = stepsFrom(version).join('\n')
  const tables = Array.from(steps.matchAll(/CREATE TABLE (\w+)/g), ([, table]) => `${table}`)
  const columns = Array.from(
    steps.matchAll(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g),
    ([, table, column]) => `${table}.${column}`,
  )
  return new Set([...tables, ...columns])
}

/** The tables that a database of a version has, be it this one or an earlier one. */
const tablesOfVersion = (version: number): Tables => {
  const added = addedSince(version)
  const tables = [...tablesAsMade()].filter(([table]) => !added.has(table))
  return new Map(
    tables.map(([table, columns]) => [
      table,
      new Set([...columns].filter((column) => !added.has(`${table}.${column}`))),
    ]),
  )
}

/** Every database has the tables of these kinds of objects. Those of a later kind are made when it is opened. */
const firstKinds: readonly string[] = ['news', 'blog']

/** The tables of a kind of objects that the program which made the database may not have known: it has none of them. */
const tablesOfNewKind = (kind: ObjectKind, found: Tables): readonly string[] => {
  const { table, texts } = contentTables[kind]
  const tables = [table, linkTables[kind], ...(texts === undefined ? [] : [texts])]
  return !firstKinds.includes(kind) && tables.every((name) => !found.has(name)) ? tables : []
}

/**
 * What a database lacks of the tables that its version has, which is this one or an earlier one: a finding for each table and each column. SQLite
 * itself finds nothing wrong with a database without them.
 */
export const lackingIn = (connection: DatabaseSync): readonly string[] => {
  // First: another process may take the tables further meanwhile, and then there are more of them.
  const expected = tablesOfVersion(versionOf(connection))
  const found = tablesIn(connection)
  const notYet = new Set(objectKindNames.flatMap((kind) => tablesOfNewKind(kind, found)))
  return [...expected].flatMap(([table, columns]) => {
    const own = found.get(table)
    if (!own) return notYet.has(table) ? [] : [`the table ${table} is missing`]
    return [...columns]
      .filter((column) => !own.has(column))
      .map((column) => `the table ${table} has no column ${column}`)
  })
}

/** The tables of the version of a database that have a column of that name. */
export const tablesWith = (column: string, connection: DatabaseSync): readonly string[] =>
  [...tablesOfVersion(versionOf(connection))].flatMap(([table, columns]) => (columns.has(column) ? [table] : []))
