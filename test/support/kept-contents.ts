import { readdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { DataDirectory } from '../../lib/machine/directory/data-directory.ts'

/** The names of all content in a data directory, and the names that its objects refer to. */
export const keptContents = ({ blobs, database: file }: Pick<DataDirectory, 'blobs' | 'database'>) => {
  // The files are listed before the references: a file that is placed meanwhile already has its reference.
  const inFiles = readdirSync(blobs)
  const database = new DatabaseSync(file, { readOnly: true })
  const inDatabase = database.prepare('SELECT name FROM small_contents').all()
  const rows = database.prepare('SELECT blob FROM objects UNION ALL SELECT blob FROM old_objects').all()
  database.close()
  const kept = [...inFiles, ...inDatabase.map(({ name }) => String(name))]
  const referenced = new Set(rows.map(({ blob }) => blob))
  return { kept, referenced, leftovers: kept.filter((name) => !referenced.has(name)) }
}
