import type { DatabaseSync } from 'node:sqlite'
import { contentKinds, objectKindNames } from '../../core/content-kinds.ts'
import { reasonOf } from '../../core/system-failures.ts'
import { editions, toStoragePath } from '../../storage/path.ts'
import { damagedBy, type Finding } from '../directory/faults.ts'
import { isBlobName } from '../objects/blobs.ts'
import { usedBytesOf } from '../sqlite/derived-rows.ts'
import { all, column, exists, value } from '../sqlite/queries.ts'
import { isEmpty, refusalOfTables, schemaFaults } from '../sqlite/schema.ts'
import { contentTables, everyObject, linkTables } from '../sqlite/tables.ts'

const danglingLinks = objectKindNames.map(
  (kind) => `SELECT 'site ' || site || ', category ' || category AS place,
      'it is linked with ${kind} ' || object || ', and one of the two does not exist' AS fault
    FROM ${linkTables[kind]} AS link
    WHERE NOT EXISTS (SELECT 1 FROM categories WHERE site = link.site AND id = link.category)
       OR NOT EXISTS (SELECT 1 FROM ${contentTables[kind].table} WHERE site = link.site AND id = link.object)`,
)

const unfinishedRemovals = contentKinds.map(
  (kind) => `SELECT 'site ' || site || ', ${kind} ' || id AS place,
      'its removal was interrupted. The next start completes the removal.' AS fault
    FROM ${contentTables[kind].table} WHERE going = 1`,
)

// Each query returns a row for each fault. Without a place, the database is at fault.
const questions: readonly string[] = [
  ...danglingLinks,
  ...unfinishedRemovals,
  `SELECT NULL AS place,
     count(*) || ' rows of the table ' || "table" || ' refer to rows of ' || parent || ' that do not exist' AS fault
   FROM pragma_foreign_key_check
   WHERE "table" NOT IN ('${Object.values(linkTables).join("', '")}') GROUP BY "table", parent`,
  `SELECT 'site ' || site || ', folder ' || folder AS place,
     'its removal was interrupted, and nothing continues it. Delete the folder again.' AS fault
   FROM folder_removals AS removal WHERE NOT EXISTS (
     SELECT 1 FROM removal_queue WHERE site = removal.site AND path = removal.folder AND id = removal.id)`,
  `SELECT 'site ' || id AS place, 'its quota counts ' || coalesce(used, 'null') || ' used bytes instead of ' || bytes ||
     '. Set the quota to none, then set it again.' AS fault
   FROM (SELECT id, quota, used, ${usedBytesOf('sites.id')} AS bytes FROM sites)
   WHERE (quota IS NULL) <> (used IS NULL) OR used <> bytes`,
  `SELECT NULL AS place, 'it contains the content ' || name || ', which belongs to no file' AS fault FROM small_contents
   WHERE name NOT IN (SELECT blob FROM (${everyObject}) WHERE blob IS NOT NULL)`,
]

const are = (json: string, type: string, names: readonly string[], at = "'$.") =>
  names.map((name) => `json_type(${json}, ${at}${name}') IS '${type}'`).join(' AND ')

const isListOf = (json: string, items: string) =>
  `json_type(${json}) = 'array' AND NOT EXISTS (SELECT 1 FROM json_each(${json}) WHERE NOT (${items}))`

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

// A database may come from an unknown source. Requests for a row with a bad value would fail, or read another file.
const unreadable = (table: string, key: string, column: string, isRight: string): string => {
  const names = key.split(', ').map((name) => `', ${name} ' || ${name}`)
  return `SELECT 'table ${table}' || ${names.join(' || ')} AS place,
      'the service cannot read its ${column}. Restore the database from a backup' AS fault
    FROM ${table} WHERE ${column} IS NOT NULL AND NOT ${isRight}`
}

const wrongJson = (table: string, key: string, column: string, isRight: string) =>
  unreadable(table, key, column, `iif(json_valid(${column}), ${isRight}, 0)`)

const rowQuestions: readonly string[] = [
  ...contentKinds.map((kind) => wrongJson(contentTables[kind].table, 'site, id', 'members', "members ->> 'id' IS id")),
  wrongJson(
    'people',
    'key',
    'record',
    `${are('record', 'text', ['name', 'displayName', 'email'])} AND ${are('record', 'object', ['sites'])} AND ${are('record', 'integer', ['created', 'sessions'])}`,
  ),
  wrongJson('grants', 'user', 'sites', isListOf('sites', "type = 'integer'")),
  wrongJson('grants', 'user', 'permissions', isListOf('permissions', "type = 'text'")),
  wrongJson('access_values', 'key', 'value', `key <> 'issuers' OR ${are('value', 'array', ['issuers', 'rules'])}`),
  wrongJson(
    'web_forms',
    'site, id',
    'fields',
    isListOf('fields', are('fields', 'integer', ['typeId', 'order'], "fullkey || '.")),
  ),
  wrongJson('uploads', 'site, id', 'target', are('target', 'text', ['path', 'key', 'contentType'])),
  wrongJson('folder_removals', 'site, folder', 'entry', are('entry', 'text', ['type', 'subject', 'actor'])),
  wrongJson(
    'webhooks',
    'site, id',
    'record',
    `${are('record', 'text', ['targetUrl', 'subject', 'description'])} AND ${are('record', 'array', ['types', 'secrets', 'retries'])}`,
  ),
  wrongJson('changes', 'site, id', 'details', "json_type(details) = 'object'"),
  unreadable('objects', 'key', 'key', 'is_key(key)'),
  unreadable('old_objects', 'key', 'key', 'is_key(key)'),
  unreadable('folder_removals', 'site, folder', 'folder', 'is_path(folder)'),
  unreadable('removal_queue', 'site, path', 'path', 'is_path(path)'),
]

export interface Findings {
  readonly findings: readonly Finding[]
  readonly isReadable: boolean
}

const ask = (connection: DatabaseSync, query: string, database: string): Findings => {
  try {
    const rows = all<{ place: string | null; fault: string }>(query)(connection)()
    return { findings: rows.map(({ place, fault }) => ({ where: place ?? database, fault })), isReadable: true }
  } catch (error) {
    // The next start creates the missing tables of a new kind of objects. All other tables must exist.
    if (/^no such table/.test(reasonOf(error))) return { findings: [], isReadable: true }
    return { findings: [{ where: database, fault: damagedBy(reasonOf(error)) }], isReadable: false }
  }
}

const strayNames = (connection: DatabaseSync): readonly string[] =>
  ['objects', 'old_objects', 'uploads'].flatMap((table) => {
    const stray = `SELECT count(*) FROM ${table} WHERE blob IS NOT NULL AND NOT is_blob_name(blob)`
    const count = value<number>(stray)(connection)() ?? 0
    if (count === 0) return []
    const [rows, have] = count === 1 ? ['1 row', 'has'] : [`${count} rows`, 'have']
    return [`${rows} of the table ${table} ${have} an invalid blob name, which may lead to other files`]
  })

// Node throws for a larger number, so one row prevents every list with it. Only SQLite reads its shadow tables.
const largeNumbers = (connection: DatabaseSync): readonly string[] =>
  all<{ readonly table: string; readonly column: string }>(
    `SELECT tables.name AS "table", columns.name AS "column" FROM pragma_table_list AS tables, pragma_table_info(tables.name) AS columns
     WHERE tables.type = 'table' AND columns.type = 'INTEGER'`,
  )(connection)()
    .filter(({ table, column }) => {
      const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number
      return exists(`SELECT 1 FROM "${table}" WHERE "${column}" NOT BETWEEN ${least} AND ${most}`)(connection)()
    })
    .map(({ table, column }) => `the column ${column} of the table ${table} has a number that is too large`)

const damageIn = (connection: DatabaseSync): readonly string[] => {
  try {
    const answers = column<string>('PRAGMA integrity_check(1000000)')(connection)()
    return answers.filter((answer) => answer !== 'ok').map((answer) => answer.replaceAll(/\s+/g, ' '))
  } catch (error) {
    return [reasonOf(error)]
  }
}

const addFunctions = (connection: DatabaseSync): void => {
  for (const [name, isRight] of Object.entries({ is_key: isKey, is_path: isPath, is_blob_name: isBlobName })) {
    connection.function(name, (text) => Number(isRight(String(text))))
  }
}

/** Faults that make every row unusable: rows may have been changed, or may name any file. */
export const checkStructure = (connection: DatabaseSync, database: string): readonly Finding[] => {
  addFunctions(connection)
  const damage = damageIn(connection)
  if (damage.length > 0) return damage.map((reason) => ({ where: database, fault: damagedBy(reason) }))
  const refusal = isEmpty(connection) ? damagedBy('it is empty') : refusalOfTables(connection)
  if (refusal !== undefined) return [{ where: database, fault: refusal }]
  const wrong = schemaFaults(connection)
  const reasons = wrong.length > 0 ? wrong : [...strayNames(connection), ...largeNumbers(connection)]
  return reasons.map((reason) => ({ where: database, fault: damagedBy(reason) }))
}

export const checkRows = (connection: DatabaseSync, database: string): readonly Finding[] => {
  addFunctions(connection)
  return rowQuestions.flatMap((query) => ask(connection, query, database).findings)
}

export const checkDatabase = (connection: DatabaseSync, database: string): Findings => {
  const structure = checkStructure(connection, database)
  if (structure.length > 0) return { findings: structure, isReadable: false }
  const answers = [...questions, ...rowQuestions].map((query) => ask(connection, query, database))
  const all = answers.flatMap(({ findings }) => findings)
  const findings = new Map(all.map((finding) => [`${finding.where} ${finding.fault}`, finding]))
  return { findings: [...findings.values()], isReadable: answers.every(({ isReadable }) => isReadable) }
}
