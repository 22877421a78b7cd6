import { randomBytes } from 'node:crypto'
import type { Blobs } from '../objects/blobs.ts'
import type { Database } from '../sqlite/database.ts'
import { exists } from '../sqlite/queries.ts'

export const createIsHeld = exists('SELECT 1 FROM backups WHERE until > ? LIMIT 1')

/**
 * Holds every blob. A blob is removed only when no row refers to it and no hold exists. So if a later snapshot has the
 * row of a blob, the blob stays. The hold of a dead process expires. Moments are in epoch milliseconds.
 */
export const holdBlobs = async (
  { connection, note }: Pick<Database, 'connection' | 'note'>,
  milliseconds: number,
  now: () => number,
) => {
  const insert = connection.prepare('INSERT INTO backups (id, until) VALUES (?, ?)')
  const forget = connection.prepare('DELETE FROM backups WHERE until <= ?')
  const extend = connection.prepare('UPDATE backups SET until = ? WHERE id = ? AND until > ?')
  const remove = connection.prepare('DELETE FROM backups WHERE id = ?')
  const id = randomBytes(16).toString('hex')
  await note(() => {
    forget.run(now())
    insert.run(id, now() + milliseconds)
  })
  let isWhole = true
  return {
    /**
     * The hold then ends `milliseconds` from now. Returns false if the hold has expired at any time, because blobs may
     * have been removed.
     */
    async extend(): Promise<boolean> {
      // If the database is busy or full, enough time is left for another attempt.
      const isHeld = await note(() => extend.run(now() + milliseconds, id, now()).changes === 1).catch(() => true)
      isWhole &&= isHeld
      return isWhole
    },
    // If this fails, the hold expires later.
    [Symbol.asyncDispose]: () => note(() => void remove.run(id)).catch(() => {}),
  }
}

export type BackupHold = Awaited<ReturnType<typeof holdBlobs>>

const interval = 10_000

/**
 * Removes blobs when no backup needs them any more. If the process dies first, the next start of the service moves the
 * blobs to `orphans/`. Calls `isHeld` when nothing in the database refers to the blob any more.
 */
export const holdForBackups = (blobs: Blobs, isHeld: () => boolean): Blobs => {
  const waiting = new Set<string>()

  const mayRemove = (): boolean => {
    try {
      return !isHeld()
    } catch {
      return false
    }
  }

  const removeWaiting = async (): Promise<void> => {
    if (waiting.size === 0 || !mayRemove()) return
    const names = [...waiting]
    waiting.clear()
    await blobs.remove(names)
  }

  const timer = setInterval(() => void removeWaiting().catch(() => {}), interval).unref()

  return {
    ...blobs,

    async remove(names) {
      for (const name of names) waiting.add(name)
      await removeWaiting()
    },

    close() {
      clearInterval(timer)
      blobs.close()
    },
  }
}
