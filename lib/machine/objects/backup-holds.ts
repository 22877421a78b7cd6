import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Database } from '../sqlite/database.ts'
import type { Blobs } from './blobs.ts'

/** What a backup that is being made holds on to: no blob is removed while it does. Moments are in epoch milliseconds. */
export interface BackupHold {
  /** Holds on for so many milliseconds from now. Answers false when the hold has run out: blobs may have gone since. */
  extend(milliseconds: number): Promise<boolean>
  end(): Promise<void>
}

/** Whether a backup is being made that still needs the blobs it has seen, at a moment in epoch milliseconds. */
export const createIsHeld = (connection: DatabaseSync): ((now: number) => boolean) => {
  const any = connection.prepare('SELECT 1 FROM backups WHERE until > ? LIMIT 1')
  return (now) => any.get(now) !== undefined
}

/**
 * Begins to hold every blob, for so many milliseconds. Whoever removes a blob asks for holds after its last row has gone: so a snapshot that is taken
 * after this either lacks the row, or keeps the blob. A process that dies lets go when its time has run out.
 */
export const holdBlobs = async (
  { connection, note }: Pick<Database, 'connection' | 'note'>,
  milliseconds: number,
  now: () => number,
): Promise<BackupHold> => {
  const insert = connection.prepare('INSERT INTO backups (id, until) VALUES (?, ?)')
  const forget = connection.prepare('DELETE FROM backups WHERE until <= ?')
  const extend = connection.prepare('UPDATE backups SET until = ? WHERE id = ? AND until > ?')
  const remove = connection.prepare('DELETE FROM backups WHERE id = ?')
  const id = randomBytes(16).toString('hex')
  await note(() => {
    forget.run(now())
    insert.run(id, now() + milliseconds)
  })
  return {
    extend: (duration) => note(() => extend.run(now() + duration, id, now()).changes === 1),
    end: async () => void (await note(() => remove.run(id))),
  }
}

interface HoldOptions {
  /** Whether a backup needs every blob that there is. Asked when nothing in the database refers to the blob any more. */
  readonly isHeld: () => boolean
}

/** How often it is seen whether the backup has ended, in milliseconds. */
const interval = 10_000

/**
 * Blobs that are removed when no backup needs them any more. What a process has not removed when it ends is set aside by the next start of the
 * service, as everything is that nothing refers to.
 */
export const holdForBackups = (blobs: Blobs, { isHeld }: HoldOptions): Blobs => {
  const waiting = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  /** What cannot be asked now is asked again. */
  const mayRemove = (): boolean => {
    try {
      return !isHeld()
    } catch {
      return false
    }
  }

  const removeWaiting = async (): Promise<void> => {
    if (waiting.size === 0 || !mayRemove()) return
    clearInterval(timer)
    timer = undefined
    const names = [...waiting]
    waiting.clear()
    await blobs.remove(names)
  }

  return {
    ...blobs,

    async remove(names) {
      for (const name of names) waiting.add(name)
      await removeWaiting()
      if (waiting.size > 0) timer ??= setInterval(() => void removeWaiting().catch(() => {}), interval).unref()
    },

    close() {
      clearInterval(timer)
      blobs.close()
    },
  }
}
