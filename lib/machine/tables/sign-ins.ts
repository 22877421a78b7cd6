import { type Attempts, countAttempt, type SignInAttempts } from '../../access/sign-in-limits.ts'
import type { Clock } from '../../core/time.ts'
import type { Database } from '../sqlite/database.ts'
import { one, prepareAll } from '../sqlite/queries.ts'

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
