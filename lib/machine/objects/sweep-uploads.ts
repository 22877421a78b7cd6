import type { Database } from '../sqlite/database.ts'
import type { Blobs } from './blobs.ts'

interface Deps {
  readonly database: Pick<Database, 'connection' | 'write'>
  readonly blobs: Pick<Blobs, 'remove'>
  /** The wall clock. */
  readonly now: () => number
}

/** How often a service that runs on looks for what has expired, in milliseconds. */
const interval = 60 * 60 * 1000

/** Removes the uploads that have expired, with their bytes. Whether one has expired is asked of its record all the same: this only makes room. */
export const createUploadSweep = ({ database: { connection, write }, blobs, now }: Deps) => {
  const remove = connection.prepare('DELETE FROM uploads WHERE expires <= ? RETURNING blob')
  let next = now() + interval

  const sweep = async (): Promise<void> => {
    const rows = await write(() => remove.all(now()))
    await blobs.remove(rows.flatMap(({ blob }) => (typeof blob === 'string' ? [blob] : [])))
  }

  return {
    sweep,
    /** When it is time again. A failure is no matter: what is left has its next time. */
    async sweepWhenDue(): Promise<void> {
      if (now() < next) return
      next = now() + interval
      await sweep().catch(() => {})
    },
  }
}
