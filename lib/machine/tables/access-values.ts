import { type Issuers, type KeyedValues, noTrust, type Trust } from '../../access/issuers/issuers.ts'
import { type Attempts, countAttempt, type SignInAttempts } from '../../access/sign-in-limits.ts'
import type { Clock } from '../../core/time.ts'
import type { Database } from '../sqlite/database.ts'
import { one, prepareAll } from '../sqlite/queries.ts'
import type { RecordChange } from './history.ts'

const trustKey = 'issuers'

export const createAccessValues = (
  { connection, read, write }: Database,
  record: RecordChange,
  clock: Clock,
): { readonly issuers: Issuers; readonly accessValues: KeyedValues } => {
  const tables = prepareAll(connection, {
    get: one(
      'SELECT value FROM access_values WHERE key = ?1 AND (expires IS NULL OR expires > ?2)',
      ({ value }: { readonly value: string }) => JSON.parse(value),
    ),
    put: 'INSERT OR REPLACE INTO access_values (key, value, expires) VALUES (?, ?, ?)',
    remove: 'DELETE FROM access_values WHERE key = ?',
  })
  const now = () => clock.wall() / 1000
  const find = (key: string): string | undefined => tables.get(key, now())
  const trust = (): Trust => tables.get(trustKey, now()) ?? noTrust
  const put = (key: string, value: string | Trust, expires: number | null) =>
    tables.put(key, JSON.stringify(value), expires)

  return {
    issuers: {
      trust: () => read(trust),

      changeTrust: (change, entries) =>
        write(() => {
          put(trustKey, change(trust()), null)
          entries.forEach(record)
        }),
    },

    accessValues: {
      get: (key) => read(() => find(key)),

      put: (key, value, expires) =>
        write(() => {
          const known = find(key)
          if (known !== undefined) return known === value
          put(key, value, expires ?? null)
          return true
        }),

      take: (key) =>
        write(() => {
          const value = find(key)
          tables.remove(key)
          return value
        }),
    },
  }
}

export const createSignInAttempts = ({ connection, note }: Database, { wall }: Clock): SignInAttempts => {
  const { get, put, forgive } = prepareAll(connection, {
    get: one<Attempts>('SELECT failures, waits, until, expires FROM sign_ins WHERE key = ?'),
    put: 'INSERT OR REPLACE INTO sign_ins (key, failures, waits, until, expires) VALUES (?, ?, ?, ?, ?)',
    forgive: 'UPDATE sign_ins SET failures = failures - 1 WHERE key = ? AND failures > 0',
  })

  return {
    count: (limit) =>
      note(() => {
        const { attempts, wait } = countAttempt(get(limit.key), limit, wall())
        put(limit.key, attempts.failures, attempts.waits, attempts.until, attempts.expires)
        return wait
      }),

    forgive: ({ key }) => note(() => void forgive(key)),
  }
}
