import { type Grant, type Grants, storedGrant } from '../../access/grants.ts'
import type { Database } from '../sqlite/database.ts'
import { prepareAll, query, readPages } from '../sqlite/queries.ts'
import type { RecordChange } from './history.ts'

interface GrantRow extends Pick<Grant, 'hash' | 'user' | 'expires'> {
  readonly sites: string
  readonly permissions: string
}

const toGrant = (row: GrantRow): Grant =>
  storedGrant({ ...row, sites: JSON.parse(row.sites), permissions: JSON.parse(row.permissions) })

export const createGrants = (database: Database, record: RecordChange): Grants => {
  const { connection, read, write } = database
  const { get, some, put, remove, setSites } = prepareAll(connection, {
    get: query<GrantRow>('SELECT * FROM grants WHERE hash = ?'),
    some: query<GrantRow>('SELECT * FROM grants WHERE hash > ? ORDER BY hash LIMIT +?'),
    put: 'INSERT OR REPLACE INTO grants (hash, user, sites, permissions, expires) VALUES (?, ?, ?, ?, ?)',
    remove: 'DELETE FROM grants WHERE hash = ?',
    setSites: 'UPDATE grants SET sites = ? WHERE hash = ?',
  })

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
      yield* await readPages(database, {
        after: '',
        query: (after, limit) => some.all(after, limit).map(toGrant),
        keyOf: ({ hash }) => hash,
      })
    },
  }
}
