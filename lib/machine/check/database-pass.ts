import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { contentKinds, objectKindNames } from '../../core/content-kinds.ts'
import { reasonOf } from '../../core/system-failures.ts'
import { editions, toStoragePath } from '../../storage/path.ts'
import { damagedBy, type Finding } from '../directory/faults.ts'
import { damageIn } from '../directory/inspect.ts'
import { isBlobName } from '../objects/blobs.ts'
import { usedBytesOf } from '../sqlite/derived-rows.ts'
import { isEmpty, refusalOfTables, schemaFaults } from '../sqlite/schema.ts'
import { contentTables, everyObject, linkTables, tablesWithBlobs } from '../sqlite/tables.ts'

type Row = Readonly<Record<string, SQLOutputValue>>

// A query that returns a row for each fault, or for each thing to check. Without `where`, the database is at fault.
interface Question {
  readonly query: string
  readonly where?: (row: Row) => string
  readonly faultOf: (row: Row) => string | undefined
}

const most = 100

const integrity: Question = {
  query: `PRAGMA integrity_check(${most})`,
  faultOf: (row) => {
    const damage = damageIn(row['integrity_check'])
    return damage === undefined ? undefined : damagedBy(damage)
  },
}

const danglingLinks = objectKindNames.map(
  (kind): Question => ({
    query: `SELECT site, category, object FROM ${linkTables[kind]} AS link
      WHERE NOT EXISTS (SELECT 1 FROM categories WHERE site = link.site AND id = link.category)
         OR NOT EXISTS (SELECT 1 FROM ${contentTables[kind].table} WHERE site = link.site AND id = link.object)`,
    where: ({ site, category }) => `site ${site}, category ${category}`,
    faultOf: ({ object }) => `it is linked with ${kind} ${object}, and one of the two does not exist`,
  }),
)

const unfinishedRemovals = contentKinds.map(
  (kind): Question => ({
    query: `SELECT site, id FROM ${contentTables[kind].table} WHERE going = 1`,
    where: ({ site, id }) => `site ${site}, ${kind} ${id}`,
    faultOf: () => 'its removal was interrupted. The next start completes the removal.',
  }),
)

const questions: readonly Question[] = [
  ...danglingLinks,
  ...unfinishedRemovals,
  {
    query: `SELECT "table", parent, count(*) AS count FROM pragma_foreign_key_check
      WHERE "table" NOT IN ('${Object.values(linkTables).join("', '")}') GROUP BY "table", parent`,
    faultOf: ({ table, parent, count }) =>
      `${count} rows of the table ${table} refer to rows of ${parent} that do not exist`,
  },
  {
    query: `SELECT site, folder FROM folder_removals AS removal
      WHERE NOT EXISTS (
        SELECT 1 FROM removal_queue WHERE site = removal.site AND path = removal.folder AND id = removal.id)`,
    where: ({ site, folder }) => `site ${site}, folder ${folder}`,
    faultOf: () => 'its removal was interrupted, and nothing continues it. Delete the folder again.',
  },
  {
    query: `SELECT id, used, ${usedBytesOf('sites.id')} AS bytes FROM sites
      WHERE (quota IS NULL) <> (used IS NULL) OR used <> bytes`,
    where: ({ id }) => `site ${id}`,
    faultOf: ({ used, bytes }) =>
      `its quota counts ${used} used bytes instead of ${bytes}. Set the quota to none, then set it again.`,
  },
  {
    query: `SELECT name FROM small_contents
      WHERE name NOT IN (SELECT blob FROM (${everyObject}) WHERE blob IS NOT NULL)`,
    faultOf: ({ name }) => `it contains the content ${name}, which belongs to no file`,
  },
]

const are = (json: string, type: string, names: readonly string[], at = "'$.") =>
  names.map((name) => `json_type(${json}, ${at}${name}') IS '${type}'`).join(' AND ')

const isListOf = (json: string, items: string) =>
  `json_type(${json}) = 'array' AND NOT EXISTS (SELECT 1 FROM json_each(${json}) WHERE NOT (${items}))`

const json: readonly (readonly [table: string, key: string, column: string, isRight: string])[] = [
  ...contentKinds.map((kind) => [contentTables[kind].table, 'site, id', 'members', "members ->> 'id' IS id"] as const),
  [
    'people',
    'key',
    'record',
    `${are('record', 'text', ['name', 'displayName', 'email'])} AND ${are('record', 'object', ['sites'])} AND ${are('record', 'integer', ['created', 'sessions'])}`,
  ],
  ['grants', 'user', 'sites', isListOf('sites', "type = 'integer'")],
  ['grants', 'user', 'permissions', isListOf('permissions', "type = 'text'")],
  ['access_values', 'key', 'value', `key <> 'issuers' OR ${are('value', 'array', ['issuers', 'rules'])}`],
  [
    'web_forms',
    'site, id',
    'fields',
    isListOf('fields', are('fields', 'integer', ['typeId', 'order'], "fullkey || '.")),
  ],
  ['uploads', 'site, id', 'target', are('target', 'text', ['path', 'key', 'contentType'])],
  ['folder_removals', 'site, folder', 'entry', are('entry', 'text', ['type', 'subject', 'actor'])],
  [
    'webhooks',
    'site, id',
    'record',
    `${are('record', 'text', ['targetUrl', 'subject', 'description'])} AND ${are('record', 'array', ['types', 'secrets', 'retries'])}`,
  ],
  ['changes', 'site, id', 'details', "json_type(details) = 'object'"],
]

const isPath = (text: string): boolean => {
  try {
    return toStoragePath(text) === text
  } catch {
    return false
  }
}

const startOfKey = new RegExp(`^(${editions.join('|')})/[1-9]\\d{0,14}/`)

const isKey = (text: string): boolean =>
  startOfKey.test(text) && isPath(text.replace(startOfKey, '').replace(/\/$/, ''))

const paths: readonly (readonly [table: string, key: string, column: string, isRight: typeof isPath])[] = [
  ['objects', 'key', 'key', isKey],
  ['old_objects', 'key', 'key', isKey],
  ['folder_removals', 'site, folder', 'folder', isPath],
  ['removal_queue', 'site, path', 'path', isPath],
]

const rowIn = (table: string, row: Row): string =>
  [`table ${table}`, ...Object.entries(row).map((entry) => entry.join(' '))].join(', ')

const unreadable = (column: string): string =>
  `the service cannot read its ${column}. Restore the database from a backup`

// A database may come from an unknown source. Requests for a row with a bad value would fail, or read another file.
const rowQuestions: readonly Question[] = [
  ...json.map(([table, key, column, isRight]) => ({
    query: `SELECT ${key} FROM ${table} WHERE ${column} IS NOT NULL AND NOT iif(json_valid(${column}), ${isRight}, 0)`,
    where: (row: Row) => rowIn(table, row),
    faultOf: () => unreadable(column),
  })),
  ...paths.map(([table, key, column, isRight]) => ({
    query: `SELECT ${key} FROM ${table}`,
    where: (row: Row) => rowIn(table, row),
    faultOf: (row: Row) => (isRight(String(row[column])) ? undefined : unreadable(column)),
  })),
]

export interface Findings {
  readonly findings: readonly Finding[]
  readonly isReadable: boolean
}

const ask = (connection: DatabaseSync, { query, where, faultOf }: Question, database: string): Findings => {
  const findings: Finding[] = []
  try {
    for (const row of connection.prepare(query).iterate()) {
      const fault = faultOf(row)
      if (fault !== undefined) findings.push({ where: where?.(row) ?? database, fault })
      if (findings.length === most) break
    }
    return { findings, isReadable: true }
  } catch (error) {
    // The next start creates the missing tables of a new kind of objects. All other tables must exist.
    if (/^no such table/.test(reasonOf(error))) return { findings: [], isReadable: true }
    return { findings: [{ where: database, fault: damagedBy(reasonOf(error)) }], isReadable: false }
  }
}

const strayNames = (connection: DatabaseSync): readonly string[] =>
  tablesWithBlobs.flatMap((table) => {
    let count = 0
    for (const { blob } of connection.prepare(`SELECT blob FROM ${table} WHERE blob IS NOT NULL`).iterate()) {
      if (!isBlobName(blob)) count += 1
    }
    if (count === 0) return []
    const [rows, have] = count === 1 ? ['1 row', 'has'] : [`${count} rows`, 'have']
    return [`${rows} of the table ${table} ${have} an invalid blob name, which may lead to other files`]
  })

// Node throws for a larger number, so one row prevents every list with it. Only SQLite reads its shadow tables.
const largeNumbers = (connection: DatabaseSync): readonly string[] =>
  connection
    .prepare(
      `SELECT tables.name AS "table", columns.name AS "column" FROM pragma_table_list AS tables, pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND columns.type = 'INTEGER'`,
    )
    .all()
    .filter(({ table, column }) => {
      const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number
      return connection.prepare(`SELECT 1 FROM "${table}" WHERE "${column}" NOT BETWEEN ${least} AND ${most}`).get()
    })
    .map(({ table, column }) => `the column ${column} of the table ${table} has a number that is too large`)

/** Faults that make every row unusable: rows may have been changed, or may name any file. */
export const checkStructure = (connection: DatabaseSync, database: string): readonly Finding[] => {
  const damage = ask(connection, integrity, database).findings
  if (damage.length > 0) return damage
  const refusal = isEmpty(connection) ? damagedBy('it is empty') : refusalOfTables(connection)
  if (refusal !== undefined) return [{ where: database, fault: refusal }]
  const wrong = schemaFaults(connection)
  const reasons = wrong.length > 0 ? wrong : [...strayNames(connection), ...largeNumbers(connection)]
  return reasons.map((reason) => ({ where: database, fault: damagedBy(reason) }))
}

/** Rows that the service cannot read. Requests for them fail. */
export const checkRows = (connection: DatabaseSync, database: string): readonly Finding[] =>
  rowQuestions.flatMap((question) => ask(connection, question, database).findings)

export const checkDatabase = (connection: DatabaseSync, database: string): Findings => {
  const structure = checkStructure(connection, database)
  if (structure.length > 0) return { findings: structure, isReadable: false }
  const answers = [...questions, ...rowQuestions].map((question) => ask(connection, question, database))
  const all = answers.flatMap(({ findings }) => findings)
  const findings = new Map(all.map((finding) => [`${finding.where} ${finding.fault}`, finding]))
  return { findings: [...findings.values()], isReadable: answers.every(({ isReadable }) => isReadable) }
}
