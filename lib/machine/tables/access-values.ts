import { type Issuers, type KeyedValues, noTrust, type Trust } from '../../access/issuers/issuers.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../sqlite/database.ts'
import { prepareAll, query } from '../sqlite/queries.ts'
import type { RecordChange } from './history.ts'

interface ValueRow {
  readonly value: string
}

const trustKey = 'issuers'

export const createIssuers = ({ connection, read, write }: Database, record: RecordChange): Issuers => {
  const tables = prepareAll(connection, {
    get: query<ValueRow>('SELECT value FROM access_values WHERE key = ?'),
    set: 'INSERT OR REPLACE INTO access_values (key, value) VALUES (?, ?)',
  })
  const stored = (): Trust => {
    const row = tables.get.get(trustKey)
    return row ? JSON.parse(row.value) : noTrust
  }
  return {
    trust: () => read(stored),

    changeTrust: (change, entries) =>
      write(() => {
        tables.set.run(trustKey, JSON.stringify(change(stored())))
        entries.forEach(record)
      }),
  }
}

const mostSwept = 100

export const createAccessValues = ({ connection, read, write }: Database, clock: Clock): KeyedValues => {
  const tables = prepareAll(connection, {
    get: query<ValueRow>('SELECT value FROM access_values WHERE key = ?1 AND (expires IS NULL OR expires > ?2)'),
    insert: 'INSERT INTO access_values (key, value, expires) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    remove: 'DELETE FROM access_values WHERE key = ?',
    sweep: `DELETE FROM access_values
      WHERE key IN (SELECT key FROM access_values WHERE expires <= ? LIMIT ${mostSwept})`,
  })
  const now = () => clock.wall() / 1000
  const find = (key: string): string | undefined => {
    const row = tables.get.get(key, now())
    return row && JSON.parse(row.value)
  }
  return {
    get: (key) => read(() => find(key)),

    put: (key, value, expires) =>
      write(() => {
        const known = find(key)
        if (known !== undefined) return known === value
        tables.sweep.run(now())
        tables.remove.run(key)
        return tables.insert.run(key, JSON.stringify(value), expires ?? null).changes === 1
      }),

    take: (key) =>
      write(() => {
        const value = find(key)
        tables.remove.run(key)
        return value
      }),
  }
}
