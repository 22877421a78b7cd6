import type { SQLOutputValue } from 'node:sqlite'
import type { Grants } from '../lib/access/grants.ts'
import { type Grant, storedGrant } from '../lib/access/grants.ts'
import type { Database } from './database.ts'
import { readInSteps } from './in-steps.ts'

const toGrant = (row: Record<string, SQLOutputValue>): Grant =>
  storedGrant({
    ...row,
    sites: JSON.parse(String(row['sites'])),
    permissions: JSON.parse(String(row['permissions'])),
  })

/** What is known of tokens, on one machine. */
export const createGrants = ({ connection, read, write }: Database): Grants => {
  const get = connection.prepare('SELECT * FROM grants WHERE hash = ?')
  const put = connection.prepare(
    'INSERT OR REPLACE INTO grants (hash, user, sites, permissions, expires) VALUES (?, ?, ?, ?, ?)',
  )
  const remove = connection.prepare('DELETE FROM grants WHERE hash = ?')
  const some = connection.prepare('SELECT * FROM grants WHERE hash > ? ORDER BY hash LIMIT +?')

  return {
    async get(hash) {
      const row = await read(() => get.get(hash))
      return row && toGrant(row)
    },

    async put({ hash, user, sites, permissions, expires }) {
      await write(() => put.run(hash, user, JSON.stringify(sites), JSON.stringify(permissions), expires))
    },

    remove: (hash) => write(() => remove.run(hash).changes === 1),

    async *list() {
      yield* await readInSteps(
        '',
        Number.POSITIVE_INFINITY,
        (after, limit) => read(() => some.all(after, limit).map(toGrant)),
        ({ hash }) => hash,
      )
    },
  }
}
