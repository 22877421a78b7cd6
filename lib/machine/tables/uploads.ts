import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { type Clock, systemClock } from '../../core/clock.ts'
import { storedId } from '../../core/ids.ts'
import type { UploadProgress } from '../../storage/upload-progress.ts'
import type { Holding, Target, Upload } from '../../storage/uploads/upload.ts'
import type { TakeOutcome, UploadRecords } from '../../storage/uploads/upload-stores.ts'
import type { Database } from '../sqlite/database.ts'

type Row = Readonly<Record<string, SQLOutputValue>>

/** On one machine the bytes wait in one piece: a blob. */
const holdingIn = (blob: SQLOutputValue | undefined): Holding | undefined =>
  typeof blob === 'string' ? { name: blob, parts: [], tail: null } : undefined

const targetIn = (stored: SQLOutputValue | undefined): Target => JSON.parse(String(stored))

const toUpload = (row: Row): Upload => ({
  id: String(row['id']),
  site: storedId(row['site']),
  user: String(row['user']),
  target: targetIn(row['target']),
  metadata: String(row['metadata']),
  limit: Number(row['most']),
  length: row['length'] === null ? null : Number(row['length']),
  offset: Number(row['kept']),
  isComplete: row['complete'] === 1,
  created: Number(row['created']),
  expires: Number(row['expires']),
  holding: holdingIn(row['blob']) ?? null,
})

const uploadStatements = (connection: DatabaseSync) => ({
  count: connection.prepare(
    'SELECT count(*) AS count FROM uploads WHERE site = ? AND user = ? AND complete = 0 AND expires > ?',
  ),
  insert: connection.prepare('INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
  get: connection.prepare('SELECT * FROM uploads WHERE id = ?'),
  advance: connection.prepare(
    'UPDATE uploads SET kept = ?, length = ?, expires = ?, blob = ? WHERE id = ? AND complete = 0',
  ),
  note: connection.prepare(
    'UPDATE uploads SET kept = ?, length = ?, expires = ? WHERE id = ? AND complete = 0 AND kept < ?',
  ),
  complete: connection.prepare(
    'UPDATE uploads SET complete = 1, expires = ?, blob = NULL WHERE id = ? AND complete = 0',
  ),
  remove: connection.prepare('DELETE FROM uploads WHERE id = ? RETURNING blob'),
})

/** `until` is on the monotonic clock. */
interface Lease {
  readonly holder: string
  readonly until: number
}

/** Only the service adds to uploads: its process alone knows the leases, and they end with it. */
export const createUploadRecords = (
  { connection, read, write, note }: Database,
  { monotonic }: Clock = systemClock,
): UploadRecords => {
  const statements = uploadStatements(connection)
  const leases = new Map<string, Lease>()

  const find = (id: string): Upload | undefined => {
    const row = statements.get.get(id)
    return row && toUpload(row)
  }
  const isHeldBy = (id: string, holder: string): boolean => leases.get(id)?.holder === holder
  const release = (id: string, holder: string): void => {
    if (isHeldBy(id, holder)) leases.delete(id)
  }

  return {
    create: (upload, most, now) =>
      write(() => {
        const { id, site, user, target, metadata, limit, length, offset, created, expires, holding } = upload
        if (Number(statements.count.get(site, user, now)?.['count']) >= most) return false
        const texts = [JSON.stringify(target), metadata] as const
        const blob = holding?.name ?? null
        statements.insert.run(id, site, user, ...texts, limit, length, offset, 0, created, expires, blob)
        return true
      }),

    get: (id) => read(() => find(id)),

    // In one step: nothing of this process comes in between.
    take: (id, offset, holder, duration) =>
      read((): TakeOutcome => {
        const upload = find(id)
        if (!upload) return { outcome: 'unknown' }
        const left = (leases.get(id)?.until ?? 0) - monotonic()
        if (left > 0) return { outcome: 'held', left }
        if (upload.offset !== offset || upload.isComplete) return { outcome: 'moved' }
        leases.set(id, { holder, until: monotonic() + duration })
        return { outcome: 'taken', upload }
      }),

    async renew(id, holder, duration) {
      if (!isHeldBy(id, holder)) return false
      leases.set(id, { holder, until: monotonic() + duration })
      return true
    },

    async advance(id, holder, { offset, length, expires, holding }, keeps) {
      if (!isHeldBy(id, holder)) return false
      const isThere = await write(() => statements.advance.run(offset, length, expires, holding.name, id).changes === 1)
      if (!keeps) release(id, holder)
      return isThere
    },

    async note(id, holder, { offset, length, expires }) {
      if (isHeldBy(id, holder)) await note(() => statements.note.run(offset, length, expires, id, offset))
    },

    async complete(id, expires) {
      await write(() => statements.complete.run(expires, id))
    },

    giveBack: async (id, holder) => release(id, holder),

    async remove(id) {
      const held = await write(() => holdingIn(statements.remove.get(id)?.['blob']))
      leases.delete(id)
      return held
    },
  }
}

/** Milliseconds after the last report. */
const keptFor = 24 * 3600 * 1000

/** The progress of the upload that each token began last, whatever the clock says. None of it waits for the disk. */
export const createUploadProgress = (
  { connection, read, note }: Database,
  { wall }: Clock = systemClock,
): UploadProgress => {
  const begin = connection.prepare(
    // An upload that goes on in another request begins nothing anew.
    `INSERT INTO upload_progress (token, upload, percent, expires) VALUES (?, ?, 0, ?)
     ON CONFLICT DO UPDATE SET upload = excluded.upload, percent = 0, expires = excluded.expires
     WHERE upload <> excluded.upload`,
  )
  const clear = connection.prepare('DELETE FROM upload_progress WHERE expires <= ?')
  const report = connection.prepare(
    'UPDATE upload_progress SET percent = ?, expires = ? WHERE token = ? AND upload = ? AND percent < ?',
  )
  const get = connection.prepare('SELECT percent FROM upload_progress WHERE token = ? AND expires > ?')
  let nextClearing = wall()

  return {
    async begin({ token, id }) {
      const now = wall()
      await note(() => begin.run(token, id, now + keptFor))
      if (now < nextClearing) return
      nextClearing = now + keptFor
      await note(() => clear.run(now))
    },

    async report({ token, id }, percent) {
      await note(() => report.run(percent, wall() + keptFor, token, id, percent))
    },

    percentOf: (token) => read(() => Number(get.get(token, wall())?.['percent'] ?? 0)),
  }
}
