import type { DatabaseSync } from 'node:sqlite'
import type { SiteId } from '../../core/ids.ts'
import { quotaExceeded, type SiteUsage } from '../../storage/quota.ts'
import type { Database } from '../sqlite/database.ts'
import { usedBytesOf } from '../sqlite/derived-rows.ts'
import { one } from '../sqlite/queries.ts'

/**
 * Makes a change in the transaction of the caller. Errors: quotaExceeded, when the change adds bytes beyond the quota
 * (S-121).
 */
export const createQuotaCheck = (connection: DatabaseSync) => {
  const limited = one<{ quota: number; used: number }>(
    'SELECT quota, used FROM sites WHERE id = ? AND quota IS NOT NULL',
  )(connection)
  return <Result>(site: SiteId, change: () => Result): Result => {
    const before = limited(site)
    const result = change()
    const after = before && limited(site)
    if (after && after.used > after.quota && after.used > before.used) throw quotaExceeded(after.quota, before.used)
    return result
  }
}

export const createSiteUsage = ({ connection, read, write }: Database): SiteUsage => {
  const used = one<{ bytes: number }>(`SELECT ${usedBytesOf('sites.id')} AS bytes FROM sites WHERE id = ?`)(connection)
  const expireUploads = connection.prepare('UPDATE uploads SET complete = 1, expires = 0 WHERE site = ?')
  return {
    bytesOf: (site) => read(() => used(site)?.bytes),
    // The transaction that sets the quota also counts the used bytes.
    prepare: async () => {},
    clear: (site) => write(() => void expireUploads.run(site)),
  }
}
