import { keptFor } from '../../history/history.ts'
import type { Database } from '../sqlite/database.ts'
import { run } from '../sqlite/queries.ts'

// Finds the first entry of each site without reading the others: one search per site, not one step per entry.
const changesBySite = `(WITH RECURSIVE sites (site) AS (
    SELECT min(site) FROM changes
    UNION ALL SELECT (SELECT min(site) FROM changes WHERE site > sites.site) FROM sites WHERE site IS NOT NULL
  ) SELECT * FROM sites) CROSS JOIN changes USING (site)`

// The rows that expire. A row stays for `after` milliseconds after its moment.
const expiring = (filesKeptFor: number) => [
  { table: 'grants', key: 'hash', expired: 'expires <= ?1 / 1000' },
  { table: 'access_values', key: 'key', expired: 'expires <= ?1 / 1000' },
  { table: 'sign_ins', key: 'key', expired: 'expires <= ?1 / 1000' },
  { table: 'upload_progress', key: 'token', expired: 'expires <= ?1' },
  { table: 'removed_folders', key: 'site, folder', expired: 'ended < ?1', after: filesKeptFor },
  { table: 'changes', key: 'site, id', from: changesBySite, expired: 'id < ?1 * 1000', after: keptFor },
]

// The number of rows in one transaction, so that other requests wait only briefly.
const step = 2_000

/** Sweeps of one table each. They only free space: readers leave out expired rows. `filesKeptFor` is in milliseconds. */
export const createSweeps = ({ connection, write }: Database, now: () => number, filesKeptFor: number) =>
  expiring(filesKeptFor).map(({ table, key, from = table, expired, after = 0 }) => {
    const remove = run(
      `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${from} WHERE ${expired} LIMIT +?2)`,
    )(connection)
    return async () => {
      while ((await write(() => remove(now() - after, step))) === step);
    }
  })
