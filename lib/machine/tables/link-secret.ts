import { randomBytes } from 'node:crypto'
import type { Database } from '../sqlite/database.ts'
import { one } from '../sqlite/queries.ts'

const secretName = 'downloads'

/** Random bytes that sign the download links of this directory. They are created when they are first needed. */
export const openLinkSecret = async ({ connection, read, write }: Database): Promise<Uint8Array> => {
  const select = one<{ bytes: Uint8Array }>('SELECT bytes FROM secrets WHERE name = ?')(connection)
  const insert = connection.prepare('INSERT OR IGNORE INTO secrets (name, bytes) VALUES (?, ?)')
  const find = () => select(secretName)?.bytes
  const known = await read(find)
  if (known) return known
  const made = await write(() => {
    insert.run(secretName, randomBytes(32))
    return find()
  })
  if (made) return made
  throw new Error('The database contains no secret for links to files')
}
