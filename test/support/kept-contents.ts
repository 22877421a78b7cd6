import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The names under which the object store of a data directory keeps content, wherever that is, and those that its objects refer to. */
export const keptContents = (directory: string) => {
  // Files come first: one that is put in place meanwhile is referenced then.
  const inFiles = readdirSync(join(directory, 'blobs'))
  const database = new DatabaseSync(join(directory, 'site-admin.db'), { readOnly: true })
  const inDatabase = database.prepare('SELECT name FROM small_contents').all()
  const rows = database.prepare('SELECT blob FROM objects').all()
  database.close()
  const kept = [...inFiles, ...inDatabase.map(({ name }) => String(name))]
  const referenced = new Set(rows.map(({ blob }) => blob))
  return { kept, referenced, leftovers: kept.filter((name) => !referenced.has(name)) }
}
