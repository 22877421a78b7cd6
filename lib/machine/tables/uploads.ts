import type { DatabaseSync } from 'node:sqlite'
import type { SiteId } from '../../core/ids.ts'
import type { Clock } from '../../core/time.ts'
import { quotaExceeded } from '../../storage/quota.ts'
import { progressKeptFor, type UploadProgress } from '../../storage/upload-progress.ts'
import { isOf, type TakeOutcome, type Upload, type UploadRecords } from '../../storage/uploads/upload.ts'
import type { Database } from '../sqlite/database.ts'
import { type Flag, one, prepareAll, value } from '../sqlite/queries.ts'
import { createQuotaCheck } from './directory-stores.ts'

interface UploadRow extends Omit<Upload, 'target' | 'isComplete' | 'holding'> {
  readonly target: string
  readonly isComplete: Flag
  readonly blob: string | null
}

const toUpload = ({ blob, ...row }: UploadRow): Upload => ({
  ...row,
  target: JSON.parse(row.target),
  isComplete: row.isComplete === 1,
  // On one machine, a single blob contains the bytes.
  holding: blob === null ? null : { name: blob, parts: [], tail: null },
})

const isCounted = `(length IS NOT NULL
  OR NOT EXISTS (SELECT 1 FROM sites WHERE id = uploads.site AND quota IS NOT NULL))`

const columns = `id, site, user, target, metadata, most AS "limit", length, kept AS "offset",
  complete AS isComplete, created, expires, blob`

export const prepareUploads = (connection: DatabaseSync) =>
  prepareAll(connection, {
    count: value<number>('SELECT count(*) FROM uploads WHERE site = ? AND user = ? AND complete = 0 AND expires > ?'),
    room: one<{ quota: number; used: number }>(`SELECT quota, used - (
        SELECT coalesce(sum(coalesce(length, kept)), 0) FROM uploads WHERE site = ?1 AND complete = 0 AND expires <= ?2
      ) AS used FROM sites WHERE id = ?1 AND quota IS NOT NULL`),
    get: one(`SELECT ${columns} FROM uploads WHERE id = ?`, toUpload),
    remove: one(`DELETE FROM uploads WHERE id = ? RETURNING ${columns}`, toUpload),
    insert: 'INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    advance: 'UPDATE uploads SET kept = ?, length = ?, expires = ?, blob = ? WHERE id = ? AND complete = 0',
    // Leaves out bytes that the quota does not count yet, because it may refuse them (S-122).
    note: `UPDATE uploads SET expires = ?3, kept = iif(${isCounted}, ?1, kept), length = iif(${isCounted}, ?2, length)
      WHERE id = ?4 AND complete = 0 AND kept <= ?1`,
    complete: 'UPDATE uploads SET complete = 1, expires = ?, blob = NULL WHERE id = ? AND complete = 0',
  })

/** Leases are in memory, because only the process of the service appends to uploads. */
export const createUploadRecords = (database: Database, { monotonic, wall }: Clock): UploadRecords => {
  const { connection, read, write, note } = database
  const uploads = prepareUploads(connection)
  const changeWithinQuota = createQuotaCheck(connection, wall)
  const leases = new Map<string, { readonly site: SiteId; readonly holder: string; readonly until: number }>()

  const release = (id: string, holder: string): void => {
    if (leases.get(id)?.holder === holder) leases.delete(id)
  }

  return {
    create: (upload, most, now) =>
      write(() => {
        const { id, site, user, target, metadata, limit, length, offset, created, expires, holding } = upload
        if ((uploads.count(site, user, now) ?? 0) >= most) return false
        const columns = [target, metadata, limit, length, offset, false, created, expires, holding?.name]
        changeWithinQuota(site, () => uploads.insert(id, site, user, ...columns))
        return true
      }),

    get: (id) => read(() => uploads.get(id)),

    // Checks and takes the lease in one step, so that no other request of this process comes in between.
    take: (id, offset, holder, duration, owner) =>
      read((): TakeOutcome => {
        const upload = uploads.get(id)
        if (!upload || !isOf(owner, upload)) return { outcome: 'gone' }
        const left = (leases.get(id)?.until ?? 0) - monotonic()
        if (left > 0) return { outcome: 'held', left }
        if (upload.offset !== offset || upload.isComplete) return { outcome: 'moved' }
        leases.set(id, { site: upload.site, holder, until: monotonic() + duration })
        return { outcome: 'taken', upload }
      }),

    async renew(id, holder, duration, progress) {
      const lease = leases.get(id)
      if (lease?.holder !== holder) return false
      leases.set(id, { ...lease, until: monotonic() + duration })
      if (progress) {
        const { offset, length, expires } = progress
        await note(() => uploads.note(offset, length, expires, id)).catch(() => {})
      }
      return true
    },

    async advance(id, holder, { offset, length, expires, holding }, keepsLease) {
      const lease = leases.get(id)
      if (lease?.holder !== holder) return false
      const advance = () => uploads.advance(offset, length, expires, holding.name, id) === 1
      const isThere = await write(() => changeWithinQuota(lease.site, advance))
      if (!keepsLease) release(id, holder)
      return isThere
    },

    requireRoom: (site, bytes) =>
      read(() => {
        const found = uploads.room(site, wall())
        if (found && found.used + bytes > found.quota) throw quotaExceeded(found.quota, found.used)
        return found && found.quota - found.used
      }),

    claim: () => undefined,

    giveBack: async (id, holder) => release(id, holder),

    async remove(id) {
      const removed = await write(() => uploads.remove(id))
      leases.delete(id)
      return removed
    },
  }
}

/** The progress of the upload that each token began last, whatever the clock says. No write waits for the disk. */
export const createUploadProgress = ({ connection, read, note }: Database, { wall }: Clock): UploadProgress => {
  const { begin, report, get } = prepareAll(connection, {
    // A further request of the same upload keeps its progress.
    begin: `INSERT INTO upload_progress (token, upload, percent, expires) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET upload = excluded.upload, percent = excluded.percent, expires = excluded.expires
      WHERE upload <> excluded.upload`,
    report: 'UPDATE upload_progress SET percent = ?, expires = ? WHERE token = ? AND upload = ? AND percent < ?',
    get: value<number>('SELECT percent FROM upload_progress WHERE token = ? AND expires > ?'),
  })

  return {
    begin: ({ token, id }, percent) => note(() => void begin(token, id, percent, wall() + progressKeptFor)),
    report: ({ token, id }, percent) => note(() => void report(percent, wall() + progressKeptFor, token, id, percent)),
    percentOf: (token) => read(() => get(token, wall()) ?? 0),
  }
}
