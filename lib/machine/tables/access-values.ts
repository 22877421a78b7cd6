import { type Issuers, type KeyedValues, noTrust, type Trust } from '../../access/issuers/issuers.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../sqlite/database.ts'
import { prepareAll, query } from '../sqlite/queries.ts'
import type { RecordChange } from './history.ts'

interface ValueRow {
  readonly value: string
}

const put = 'INSERT OR REPLACE INTO access_values (key, value, expires) VALUES (?, ?, ?)'

const trustKey = 'issuers'

export const createIssuers = ({ connection, read, write }: Database, record: RecordChange): Issuers => {
  const tables = prepareAll(connection, {
    get: query('SELECT value FROM access_values WHERE key = ?', ({ value }: ValueRow): Trust => JSON.parse(value)),
    put,
  })
  const stored = (): Trust => tables.get.get(trustKey) ?? noTrust
  return {
    trust: () => read(stored),

    changeTrust: (change, entries) =>
      write(() => {
        tables.put.run(trustKey, JSON.stringify(change(stored())), null)
        entries.forEach(record)
      }),
  }
}

const mostSwept = 100

export const createAccessValues = ({ connection, read, write }: Database, clock: Clock): KeyedValues => {
  const tables = prepareAll(connection, {
    get: query(
      'SELECT value FROM access_values WHERE key = ?1 AND (expires IS NULL OR expires > ?2)',
      ({ value }: ValueRow): string => JSON.parse(value),
    ),
    put,
    remove: 'DELETE FROM access_values WHERE key = ?',
    sweep: `DELETE FROM access_values
      WHERE key IN (SELECT key FROM access_values WHERE expires <= ? LIMIT ${mostSwept})`,
  })
  const now = () => clock.wall() / 1000
  const find = (key: string) => tables.get.get(key, now())
  return {
    get: (key) => read(() => find(key)),

    put: (key, value, expires) =>
      write(() => {
        const known = find(key)
        if (known !== undefined) return known === value
        tables.sweep.run(now())
        tables.put.run(key, JSON.stringify(value), expires ?? null)
        return true
      }),

    take: (key) =>
      write(() => {
        const value = find(key)
        tables.remove.run(key)
        return value
      }),
  }
}
