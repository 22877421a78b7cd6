import { type Clock, systemClock } from '../../core/clock.ts'
import type { UploadProgress } from '../../storage/upload-progress.ts'
import type { Database } from '../sqlite/database.ts'

/** How long progress is kept after it was last told, in milliseconds. */
const keptFor = 24 * 3600 * 1000

/**
 * The progress of each token's newest upload, on one machine. The newest is the one that came last: the place of a token is that of the
 * upload that began it anew, whatever the clock says. None of it waits for the disk.
 */
export const createUploadProgress = (
  { connection, read, note }: Database,
  { wall }: Clock = systemClock,
): UploadProgress => {
  const begin = connection.prepare(
    // An upload that goes on in another request begins nothing anew.
    `INSERT INTO upload_progress (token, upload, percent, expires) VALUES (?, ?, 0, ?)
     ON CONFLICT DO UPDATE SET upload = excluded.upload, percent = 0, expires = excluded.expires WHERE upload <> excluded.upload`,
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
