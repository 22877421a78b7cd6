import { DatabaseSync } from 'node:sqlite'
import type { SiteId } from '../lib/ids.ts'
import type { StoragePath } from '../lib/storage/path.ts'
import type { RemovalQueue, RemovalTask } from '../lib/storage/removal-queue.ts'

/** Works on a task for about so many milliseconds. Answers whether there is nothing left to do. */
type RemovalWorker = (task: RemovalTask, slice: number) => Promise<boolean>

export interface LocalRemovalQueue extends RemovalQueue {
  /** Begins to work off what is in the queue, what an earlier process has left there first of all. */
  start(work: RemovalWorker): void
  /** Lets the slice in hand end; what is left stays for the next start. */
  stop(): Promise<void>
}

/** Short, so that a server that is asked to stop need not wait for long; in milliseconds. */
const slice = 1_000
const pauseAfterFailure = 5_000

interface Message extends RemovalTask {
  readonly number: number
  readonly due: number
}

interface Row {
  readonly number: number
  readonly site: number
  readonly path: string
  readonly id: string
  readonly due: number
}

const toMessage = ({ site, path, ...rest }: Row): Message => ({
  ...rest,
  site: site as SiteId,
  path: path as StoragePath,
})

/** The queue of removals on one machine: kept on disk, worked off by the server itself. */
export const openRemovalQueue = (file: string): LocalRemovalQueue => {
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS removals (
      number INTEGER PRIMARY KEY, site INTEGER NOT NULL, path TEXT NOT NULL, id TEXT NOT NULL, due INTEGER NOT NULL
    ) STRICT`)
  // What was put off for a request to finish is due when that request is gone.
  database.exec('UPDATE removals SET due = 0')
  const insert = database.prepare('INSERT INTO removals (site, path, id, due) VALUES (?, ?, ?, ?)')
  const first = database.prepare('SELECT * FROM removals ORDER BY due LIMIT 1')
  const putOff = database.prepare('UPDATE removals SET due = ? WHERE number = ?')
  const remove = database.prepare('DELETE FROM removals WHERE number = ?')

  let work: RemovalWorker | undefined
  let working: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const workOn = async (message: Message): Promise<void> => {
    try {
      if (await work?.(message, slice)) remove.run(message.number)
    } catch (error) {
      console.error(`The removal of a folder of site ${message.site} waits for another attempt:`, error)
      putOff.run(Date.now() + pauseAfterFailure, message.number)
    }
  }

  const wake = (): void => {
    if (!work || working) return
    clearTimeout(timer)
    const row = first.get() as Row | undefined
    if (!row) return
    const message = toMessage(row)
    const wait = message.due - Date.now()
    if (wait > 0) {
      timer = setTimeout(wake, wait)
      return
    }
    working = workOn(message).then(() => {
      working = undefined
      wake()
    })
  }

  return {
    async send({ site, path, id }, delay) {
      insert.run(site, path, id, Date.now() + delay * 1000)
      wake()
    },

    start(worker) {
      work = worker
      wake()
    },

    async stop() {
      work = undefined
      clearTimeout(timer)
      await working
      database.close()
    },
  }
}
