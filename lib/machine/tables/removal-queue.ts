import { type Clock, systemClock } from '../../core/clock.ts'
import type { SiteId } from '../../core/ids.ts'
import type { RemovalMessage, Rest } from '../../storage/continue-removal.ts'
import { toStoragePath } from '../../storage/path.ts'
import type { RemovalQueue, RemovalTask } from '../../storage/path-locks.ts'
import type { Database } from '../sqlite/database.ts'
import { prepareQuery } from '../sqlite/queries.ts'

// Works for about `slice` milliseconds. Returns what is left to do.
type RemovalWorker = (message: RemovalMessage, slice: number) => Promise<Rest | undefined>

export interface LocalRemovalQueue extends RemovalQueue {
  /** The tasks that an earlier process left come first. */
  start(work: RemovalWorker): Promise<void>
  /** Ends the current slice. The rest of the work stays for the next start. */
  stop(): Promise<void>
}

// In milliseconds: short, so that the server can stop soon.
const slice = 1_000
const pauseAfterFailure = 5_000

interface TaskRow {
  readonly number: number
  readonly site: SiteId
  readonly path: string
  readonly id: string
}

/**
 * Tasks are in the database, but only the server knows when they are due. A task that waits for a request is due when
 * the process of that request has ended.
 */
export const createRemovalQueue = (
  { connection, read, write }: Database,
  { monotonic }: Clock = systemClock,
): LocalRemovalQueue => {
  const insert = connection.prepare('INSERT INTO removal_queue (site, path, id) VALUES (?, ?, ?)')
  const all = prepareQuery<TaskRow>(connection, 'SELECT * FROM removal_queue ORDER BY number')
  const remove = connection.prepare('DELETE FROM removal_queue WHERE number = ?')

  const tasks = new Map<number, { readonly task: RemovalTask; readonly due: number }>()
  let work: RemovalWorker | undefined
  let working: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const workOn = async (number: number, task: RemovalTask): Promise<void> => {
    try {
      if (!work) return
      const rest = await work({ task, name: String(number) }, slice)
      if (rest) {
        tasks.set(number, { task, due: monotonic() + rest.delay * 1000 })
        return
      }
      await write(() => remove.run(number))
      tasks.delete(number)
    } catch (error) {
      console.error(
        `The removal of a folder of site ${task.site} failed. The service repeats the removal later:`,
        error,
      )
      tasks.set(number, { task, due: monotonic() + pauseAfterFailure })
    }
  }

  const wake = (): void => {
    clearTimeout(timer)
    if (!work || working) return
    const [first] = [...tasks].toSorted(([, a], [, b]) => a.due - b.due)
    if (!first) return
    const [number, { task, due }] = first
    const wait = due - monotonic()
    if (wait > 0) {
      timer = setTimeout(wake, wait)
      return
    }
    working = workOn(number, task).then(() => {
      working = undefined
      wake()
    })
  }

  return {
    async send(task, delay) {
      const due = monotonic() + delay * 1000
      const { lastInsertRowid } = await write(() => insert.run(task.site, task.path, task.id))
      tasks.set(Number(lastInsertRowid), { task, due })
      wake()
      return String(lastInsertRowid)
    },

    async start(worker) {
      const left = await read(() => all.all())
      for (const { number, site, path, id } of left) {
        const task = { site, path: toStoragePath(path), id }
        if (!tasks.has(number)) tasks.set(number, { task, due: monotonic() })
      }
      work = worker
      wake()
    },

    async stop() {
      work = undefined
      clearTimeout(timer)
      await working
    },
  }
}
