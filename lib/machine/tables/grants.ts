import type { SQLOutputValue } from 'node:sqlite'
import type { Grants } from '../../access/grants.ts'
import { type Grant, storedGrant } from '../../access/grants.ts'
import type { Database } from '../sqlite/database.ts'
import { readPages } from '../sqlite/paging.ts'
import type { RecordChange } from './history.ts'

const toGrant = (row: Record<string, SQLOutputValue>): Grant =>
  storedGrant({
    ...row,
    sites: JSON.parse(String(row['sites'])),
    permissions: JSON.parse(String(row['permissions'])),
  })

export const createGrants = ({ connection, read, write }: Database, record: RecordChange): Grants => {
  const get = connection.prepare('SELECT * FROM grants WHERE hash = ?')
  const put = connection.prepare(
    'INSERT OR REPLACE INTO grants (hash, user, sites, permissions, expires) VALUES (?, ?, ?, ?, ?)',
  )
  const remove = connection.prepare('DELETE FROM grants WHERE hash = ?')
  const setSites = connection.prepare('UPDATE grants SET sites = ? WHERE hash = ?')
  const some = connection.prepare('SELECT * FROM grants WHERE hash > ? ORDER BY hash LIMIT +?')

  return {
    async get(hash) {
      const row = await read(() => get.get(hash))
      return row && toGrant(row)
    },

    put: ({ hash, user, sites, permissions, expires }, entries) =>
      write(() => {
        put.run(hash, user, JSON.stringify(sites), JSON.stringify(permissions), expires)
        entries.forEach(record)
      }),

    remove: (hash, entries) =>
      write(() => {
        if (remove.run(hash).changes === 0) return false
        entries.forEach(record)
        return true
      }),

    uncover: (hash, site, entry) =>
      write(() => {
        const row = get.get(hash)
        const grant = row && toGrant(row)
        if (!grant?.sites.includes(site)) return false
        const others = grant.sites.filter((other) => other !== site)
        if (others.length > 0) setSites.run(JSON.stringify(others), hash)
        else remove.run(hash)
        record(entry)
        return true
      }),

    async *list() {
      yield* await readPages(
        '',
        Number.POSITIVE_INFINITY,
        (after, limit) => read(() => some.all(after, limit).map(toGrant)),
        ({ hash }) => hash,
      )
    },
  }
}
