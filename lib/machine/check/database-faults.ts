import type { DatabaseSync } from 'node:sqlite'
import { contentKinds, objectKindNames } from '../../core/content-kinds.ts'
import { reasonOf } from '../../core/system-failures.ts'
import { damageIn } from '../directory/database-damage.ts'
import { isBlobName } from '../objects/blobs.ts'
import { isEmpty, refusalOfTables, schemaFaults, versionOf } from '../sqlite/schema.ts'
import { contentTables, everyObject, linkTables, tablesWithBlobs } from '../sqlite/tables.ts'
import type { Damaged, Fault } from './backup-marker.ts'
import { type Question, rowQuestions } from './row-faults.ts'

export interface Findings {
  readonly faults: readonly Fault[]
  readonly isReadable: boolean
}

const most = 100

export const damagedBy = (finding: string): string => `it is damaged: ${finding}. Put it back from a backup.`

const integrity: Question = {
  query: `PRAGMA integrity_check(${most})`,
  faultOf: (row, database) => {
    const finding = damageIn(row['integrity_check'])
    return finding === undefined ? undefined : { where: database, fault: damagedBy(finding) }
  },
}

const danglingLinks = objectKindNames.map(
  (kind): Question => ({
    query: `SELECT site, category, object FROM ${linkTables[kind]} AS link
      WHERE NOT EXISTS (SELECT 1 FROM categories WHERE site = link.site AND id = link.category)
         OR NOT EXISTS (SELECT 1 FROM ${contentTables[kind].table} WHERE site = link.site AND id = link.object)`,
    faultOf: ({ site, category, object }) => ({
      where: `site ${site}, category ${category}`,
      fault: `it is linked with ${kind} ${object}, and one of the two does not exist`,
    }),
  }),
)

const unfinishedRemovals = contentKinds.map(
  (kind): Question => ({
    query: `SELECT site, id FROM ${contentTables[kind].table} WHERE going = 1`,
    faultOf: ({ site, id }) => ({
      where: `site ${site}, ${kind} ${id}`,
      fault: 'its removal broke off. The next start completes it.',
    }),
  }),
)

const questions: readonly Question[] = [
  ...danglingLinks,
  ...unfinishedRemovals,
  {
    query: `SELECT "table", parent, count(*) AS count FROM pragma_foreign_key_check
      WHERE "table" NOT IN ('${Object.values(linkTables).join("', '")}') GROUP BY "table", parent`,
    faultOf: ({ table, parent, count }, database) => ({
      where: database,
      fault: `${count} rows of the table ${table} refer to rows of ${parent} that are not there`,
    }),
  },
  {
    query: `SELECT site, folder FROM folder_removals AS removal
      WHERE NOT EXISTS (
        SELECT 1 FROM removal_queue WHERE site = removal.site AND path = removal.folder AND id = removal.id)`,
    faultOf: ({ site, folder }) => ({
      where: `site ${site}, folder ${folder}`,
      fault: 'its removal broke off, and nothing continues it. Delete the folder once more.',
    }),
  },
  {
    query: `SELECT name FROM small_contents
      WHERE name NOT IN (SELECT blob FROM (${everyObject}) WHERE blob IS NOT NULL)`,
    faultOf: ({ name }, database) => ({ where: database, fault: `the content ${name} in it belongs to no file` }),
  },
]

const ask = (connection: DatabaseSync, { query, faultOf }: Question, database: string): Findings => {
  try {
    const faults: Fault[] = []
    for (const row of connection.prepare(query).iterate()) {
      const fault = faultOf(row, database)
      if (fault) faults.push(fault)
      if (faults.length === most) break
    }
    return { faults, isReadable: true }
  } catch (error) {
    // The next start makes the tables of another kind of objects: all others are there.
    if (/^no such table/.test(reasonOf(error))) return { faults: [], isReadable: true }
    return { faults: [{ where: database, fault: damagedBy(reasonOf(error)) }], isReadable: false }
  }
}

const strayNames = (connection: DatabaseSync): readonly string[] =>
  tablesWithBlobs.flatMap((table) => {
    let count = 0
    for (const { blob } of connection.prepare(`SELECT blob FROM ${table} WHERE blob IS NOT NULL`).iterate()) {
      if (!isBlobName(blob)) count += 1
    }
    if (count === 0) return []
    return [
      `${count === 1 ? '1 row' : `${count} rows`} of the table ${table} ${count === 1 ? 'has' : 'have'} a blob ` +
        'with a name that no blob has, which may lead to other files',
    ]
  })

/** Faults that make every row unusable: rows may not be what was stored, or may lead anywhere. */
export const fatalFaults = (connection: DatabaseSync, database: string): readonly Fault[] => {
  const damage = ask(connection, integrity, database).faults
  if (damage.length > 0) return damage
  const refusal = isEmpty(connection) ? damagedBy('it holds nothing') : refusalOfTables(versionOf(connection))
  if (refusal !== undefined) return [{ where: database, fault: refusal }]
  const wrong = schemaFaults(connection)
  const findings = wrong.length > 0 ? wrong : strayNames(connection)
  return findings.map((finding) => ({ where: database, fault: damagedBy(finding) }))
}

/** Rows that the service cannot read; requests for them fail. */
export const rowFaults = (connection: DatabaseSync, database: string): readonly Damaged[] =>
  rowQuestions
    .flatMap((question) => ask(connection, question, database).faults)
    .map((fault) => ({ need: 'now', ...fault }))

export const databaseFaults = (connection: DatabaseSync, database: string): Findings => {
  const fatal = fatalFaults(connection, database)
  if (fatal.length > 0) return { faults: fatal, isReadable: false }
  const found = [...questions, ...rowQuestions].map((question) => ask(connection, question, database))
  // Several questions may fail for the same reason.
  const faults = new Map(found.flatMap(({ faults }) => faults).map((fault) => [`${fault.where} ${fault.fault}`, fault]))
  return { faults: [...faults.values()], isReadable: found.every(({ isReadable }) => isReadable) }
}
