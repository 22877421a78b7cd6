import { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '../lib/errors.ts'

/**
 * The one SQLite database of a machine. SQLite works while everything else of the process waits, so changes are short, and those
 * that are asked for in one turn of the event loop share a transaction, and with it the wait for the disk.
 */
export interface Database {
  /** For reading, and for the statements that changes run. */
  readonly connection: DatabaseSync
  /**
   * Runs a change. All of it stays, and is on the disk, when the promise resolves; none of it when `change` throws, whose error comes
   * through. It may be run more than once, and must do nothing outside of the database. Errors: unavailable (another process has
   * kept the database to itself for 5 seconds), outOfSpace.
   */
  write<Result>(change: () => Result): Promise<Result>
  close(): void
}

interface Job {
  readonly run: () => unknown
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  /** When it has waited long enough for another process, by the monotonic clock in milliseconds. */
  readonly until: number
}

/** How long SQLite itself waits for another process, with everything else of this one; in milliseconds. */
const lockWait = 20
/** How long a change is tried again after that, from a timer, while everything else goes on. */
const patience = 5_000
const pause = 10
/** How long one transaction may go on with the changes that are waiting. */
const longestTransaction = 20

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
const codes = { busy: 5, full: 13 } as const

const codeOf = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0

/** What the callers of a port are told of an error of SQLite. */
const asPortError = (error: unknown): unknown => {
  if (codeOf(error) === codes.busy) return new ServiceError('unavailable', { cause: error })
  if (codeOf(error) === codes.full) return new ServiceError('outOfSpace', { cause: error })
  return error
}

/** Opens the database. `durable` says whether a change waits for the disk: if not, it outlives the process but not the machine. */
export const openDatabase = (file: string, { durable }: { readonly durable: boolean }): Database => {
  const connection = new DatabaseSync(file, { timeout: lockWait })
  connection.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`)
  connection.exec('PRAGMA foreign_keys = ON')
  const begin = connection.prepare('BEGIN IMMEDIATE')
  const commit = connection.prepare('COMMIT')
  const mark = connection.prepare('SAVEPOINT change')
  const backToMark = connection.prepare('ROLLBACK TO change')
  const release = connection.prepare('RELEASE change')
  let waiting: Job[] = []
  let scheduled = false

  const later = (jobs: readonly Job[], delay: number) => {
    waiting = [...jobs, ...waiting]
    if (waiting.length === 0 || scheduled) return
    scheduled = true
    if (delay > 0) setTimeout(flush, delay)
    else setImmediate(flush)
  }

  /** Another process has the database, or it cannot be written at all. */
  const postpone = (jobs: readonly Job[], error: unknown) => {
    const isBusy = codeOf(error) === codes.busy
    const now = performance.now()
    const [patient, others] = [
      jobs.filter(({ until }) => isBusy && now < until),
      jobs.filter(({ until }) => !isBusy || now >= until),
    ]
    later(patient, pause)
    for (const { reject } of others) reject(asPortError(error))
  }

  /** Runs jobs in the transaction that is open until its time is up. Answers what to tell about each of them once it is committed. */
  const runSome = (jobs: readonly Job[]): (() => void)[] => {
    const outcomes: (() => void)[] = []
    const end = performance.now() + longestTransaction
    for (const { run, resolve, reject } of jobs) {
      if (performance.now() > end) break
      mark.run()
      try {
        const result = run()
        outcomes.push(() => resolve(result))
      } catch (error) {
        // SQLite gives up the whole transaction by itself when the disk is full, for one.
        if (!connection.isTransaction) throw error
        backToMark.run()
        outcomes.push(() => reject(asPortError(error)))
      }
      release.run()
    }
    return outcomes
  }

  const attempt = (jobs: readonly Job[]): void => {
    try {
      begin.run()
    } catch (error) {
      postpone(jobs, error)
      return
    }
    try {
      const outcomes = runSome(jobs)
      commit.run()
      later(jobs.slice(outcomes.length), 0)
      for (const tell of outcomes) tell()
    } catch (error) {
      // To roll back what is gone already would hide the reason.
      if (connection.isTransaction) connection.exec('ROLLBACK')
      const [job, another] = jobs
      if (job && !another) job.reject(asPortError(error))
      // One of them may spoil it for the others: each gets a transaction of its own.
      else for (const one of jobs) attempt([one])
    }
  }

  function flush() {
    scheduled = false
    const jobs = waiting
    waiting = []
    if (jobs.length > 0) attempt(jobs)
  }

  return {
    connection,
    write: (change) =>
      new Promise((resolve, reject) => {
        const job: Job = {
          run: change,
          resolve: resolve as Job['resolve'],
          reject,
          until: performance.now() + patience,
        }
        waiting.push(job)
        later([], 0)
      }),
    close() {
      flush()
      connection.close()
    },
  }
}
