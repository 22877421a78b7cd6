import { createTurns } from '../../core/in-parallel.ts'
import type { RemovalMessage, Rest } from '../../storage/continue-removal.ts'
import type { RemovalTask } from '../../storage/object-store.ts'
import type { RemovalQueue } from '../../storage/path-locks.ts'
import type { Database } from '../sqlite/database.ts'
import { all } from '../sqlite/queries.ts'

// Works for about `slice` milliseconds. Returns what is left to do.
type RemovalWorker = (message: RemovalMessage, slice: number) => Promise<Rest | undefined>

// In milliseconds: short, so that the server can stop soon.
const slice = 1_000
const pauseAfterFailure = 5_000

/**
 * Tasks are in the database, but only the server knows when they are due. A task that waits for a request is due when
 * the process of that request has ended.
 */
export const createRemovalQueue = ({ connection, read, write }: Database) => {
  const insert = connection.prepare('INSERT INTO removal_queue (site, path, id) VALUES (?, ?, ?)')
  const readAll = all<RemovalTask & { number: number }>('SELECT * FROM removal_queue ORDER BY number')(connection)
  const remove = connection.prepare('DELETE FROM removal_queue WHERE number = ?')
  const takeTurn = createTurns({ atOnce: 1 })
  let work: RemovalWorker | undefined
  let working: Promise<void> | undefined

  const workOn = async (number: number, task: RemovalTask): Promise<void> => {
    if (!work) return
    try {
      const rest = await work({ task, name: String(number) }, slice)
      if (rest) schedule(number, task, rest.delay * 1000)
      else await write(() => remove.run(number))
    } catch (error) {
      const failure = `The removal of a folder of site ${task.site} failed. The service repeats the removal later:`
      console.error(failure, error)
      schedule(number, task, pauseAfterFailure)
    }
  }

  const begin = (number: number, task: RemovalTask): void => {
    working = takeTurn(() => workOn(number, task))
  }

  const schedule = (number: number, task: RemovalTask, delay: number): void => {
    if (!work) return
    if (delay > 0) setTimeout(begin, delay, number, task).unref()
    else begin(number, task)
  }

  return {
    async send(task, delay) {
      const { lastInsertRowid } = await write(() => insert.run(task.site, task.path, task.id))
      schedule(Number(lastInsertRowid), task, delay * 1000)
      return String(lastInsertRowid)
    },
    /** The tasks that an earlier process left come first. */
    async start(worker: RemovalWorker): Promise<void> {
      const left = await read(readAll)
      work = worker
      for (const { number, ...task } of left) schedule(number, task, 0)
    },
    /** Ends the current slice. The rest of the work stays for the next start. */
    async stop(): Promise<void> {
      work = undefined
      await working
    },
  } satisfies RemovalQueue & Readonly<Record<string, unknown>>
}
