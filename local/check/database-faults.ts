import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { reasonOf } from '../data-directory.ts'
import type { Fault } from './fault.ts'

type Row = Record<string, SQLOutputValue>

/** How many findings of one kind are named. */
const most = 100

/** A question to the database, and what each row of the answer means. */
interface Question {
  readonly query: string
  readonly faultOf: (row: Row, database: string) => Fault | undefined
}

const integrity: Question = {
  query: `PRAGMA integrity_check(${most})`,
  faultOf: (row, database) => {
    const finding = String(row['integrity_check'])
    return finding === 'ok'
      ? undefined
      : { where: database, fault: `it is damaged: ${finding}. Put it back from a backup.` }
  },
}

const questions: readonly Question[] = [
  {
    query: 'PRAGMA foreign_key_check',
    faultOf: (row, database) => ({
      where: database,
      fault: `a row of the table ${row['table']} refers to a row of ${row['parent']} that is not there`,
    }),
  },
  {
    query: `SELECT site, category, kind, object FROM links AS link
      WHERE NOT EXISTS (SELECT 1 FROM contents WHERE site = link.site AND kind = 'category' AND id = link.category)
         OR NOT EXISTS (SELECT 1 FROM contents WHERE site = link.site AND kind = link.kind AND id = link.object)`,
    faultOf: ({ site, category, kind, object }) => ({
      where: `site ${site}, category ${category}`,
      fault: `it is linked with ${kind} ${object}, and one of the two does not exist`,
    }),
  },
  {
    query: 'SELECT site, kind, id FROM contents WHERE going = 1',
    faultOf: ({ site, kind, id }) => ({
      where: `site ${site}, ${kind} ${id}`,
      fault: 'its removal broke off half-way. Repeat the removal.',
    }),
  },
  {
    query: `SELECT site, folder FROM folder_removals AS removal
      WHERE NOT EXISTS (SELECT 1 FROM removal_queue WHERE site = removal.site AND path = removal.folder AND id = removal.id)`,
    faultOf: ({ site, folder }) => ({
      where: `site ${site}, folder ${folder}`,
      fault: 'its removal broke off half-way, and nobody goes on with it. Delete the folder again.',
    }),
  },
  {
    query: 'SELECT name FROM small_contents WHERE name NOT IN (SELECT blob FROM objects WHERE blob IS NOT NULL)',
    faultOf: ({ name }, database) => ({
      where: database,
      fault: `the content ${name} belongs to no file`,
    }),
  },
]

const ask = (connection: DatabaseSync, { query, faultOf }: Question, database: string): Fault[] => {
  try {
    const faults: Fault[] = []
    for (const row of connection.prepare(query).iterate()) {
      const fault = faultOf(row, database)
      if (fault) faults.push(fault)
      if (faults.length === most) break
    }
    return faults
  } catch (error) {
    return [{ where: database, fault: `it cannot be read: ${reasonOf(error)}` }]
  }
}

/** What is wrong inside the database: with its pages, or with what its rows say of each other. */
export const databaseFaults = (connection: DatabaseSync, database: string): readonly Fault[] => {
  const damage = ask(connection, integrity, database)
  // What the rows of a damaged database say is of no use.
  if (damage.length > 0) return damage
  return questions.flatMap((question) => ask(connection, question, database))
}
