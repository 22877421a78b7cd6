import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The names under which an embedded object store keeps content, wherever that is, and those that its objects refer to. */
export const keptContents = (folder: string) => {
  // Files come first: one that is put in place meanwhile is referenced then.
  const inFiles = readdirSync(join(folder, 'blobs'))
  const database = new DatabaseSync(join(folder, 'index.db'), { readOnly: true })
  const inIndex = database.prepare('SELECT name FROM contents').all()
  const rows = database.prepare('SELECT blob FROM objects').all()
  database.close()
  const kept = [...inFiles, ...inIndex.map(({ name }) => String(name))]
  const referenced = new Set(rows.map(({ blob }) => blob))
  return { kept, referenced, leftovers: kept.filter((name) => !referenced.has(name)) }
}
