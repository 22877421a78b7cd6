import { type Attempts, countAttempt, type SignInAttempts } from '../../access/sign-in-limits.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../sqlite/database.ts'
import { prepareAll, query } from '../sqlite/queries.ts'

export const createSignInAttempts = ({ connection, note }: Database, { wall }: Clock): SignInAttempts => {
  const { get, put, forget, forgive } = prepareAll(connection, {
    get: query<Attempts>('SELECT failures, waits, until, expires FROM sign_ins WHERE key = ?'),
    put: 'INSERT OR REPLACE INTO sign_ins (key, failures, waits, until, expires) VALUES (?, ?, ?, ?, ?)',
    forget: 'DELETE FROM sign_ins WHERE expires < ?',
    forgive: 'UPDATE sign_ins SET failures = failures - 1 WHERE key = ? AND failures > 0',
  })

  return {
    count: (limits) =>
      note(() => {
        const now = wall()
        forget.run(Math.floor(now / 1000))
        const counted = limits.map((limit) => ({ ...limit, ...countAttempt(get.get(limit.key), limit, now) }))
        const longest = Math.max(0, ...counted.map(({ wait }) => wait))
        // If one key refuses an attempt, the attempt does not count as a failure under the other keys.
        for (const { key, wait, attempts } of counted) {
          const { failures, waits, until, expires } = attempts
          if (longest === 0 || wait > 0) put.run(key, failures, waits, until, expires)
        }
        return longest
      }),

    forgive: (limits) =>
      note(() => {
        for (const { key } of limits) forgive.run(key)
      }),
  }
}
