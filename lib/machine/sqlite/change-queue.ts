import type { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '../../core/errors.ts'
import { asPortError, isBusy, isDiskFull, isFailedFlush } from '../../core/system-failures.ts'

export interface DatabaseOptions {
  readonly durable: boolean
  /** A command pauses regularly, so that a server can use the database meanwhile. */
  readonly yieldsRegularly?: boolean
}

interface Job {
  readonly change: () => unknown
  readonly waitsForDisk: boolean
  resolve(value: unknown): void
  reject(error: unknown): void
  /**
   * A moment on the monotonic clock. After this moment, the change is refused if another process still has the
   * database.
   */
  readonly until: number
}

// In milliseconds. SQLite itself waits `lockWait` for another process, and this process waits with it. Then a timer
// repeats the change for `longestWait`, while the rest of the process runs. The `pause` is short, because a busy process
// frees the database only for moments.
const lockWait = 20
export const longestWait = 5_000
export const pause = 1
// In milliseconds. A transaction has at least one job. After `workBeforeRest`, a command pauses.
const longestTransaction = 20
const workBeforeRest = 20
const rest = 4

const mostPagesInWal = 1_000
const mostUnflushedTransactions = 1_000

const openPragma = (connection: DatabaseSync, name: string) => {
  let current: number | string | undefined
  return (value: number | string) => {
    if (value !== current) connection.exec(`PRAGMA ${name} = ${value}`)
    current = value
  }
}

interface Failure {
  readonly error: unknown
  /** The next transaction has only so many jobs, so that one bad job does not make the others fail. If 0, it is the first. */
  readonly together: number
}

/**
 * Returns how to settle the first jobs, which ran in one transaction. A job that throws before its first change does
 * not disturb the others. Otherwise all jobs are rolled back: in a savepoint, SQLite would take longer for each
 * statement, the more pages the job has changed before.
 */
const openTransactions = (connection: DatabaseSync) => {
  const begin = connection.prepare('BEGIN IMMEDIATE')
  const commit = connection.prepare('COMMIT')
  const countChanges = connection.prepare('SELECT total_changes() AS count')
  const rollBack = () => {
    if (connection.isTransaction) connection.exec('ROLLBACK')
  }

  const run = ({ change, resolve, reject }: Job): (() => void) => {
    const before = countChanges.get()?.['count']
    try {
      const value = change()
      return () => resolve(value)
    } catch (error) {
      // SQLite may have rolled back the whole transaction, as when the disk is full.
      if (!connection.isTransaction || countChanges.get()?.['count'] !== before) throw error
      return () => reject(error)
    }
  }

  return (jobs: readonly Job[]): readonly (() => void)[] | Failure => {
    const settle: (() => void)[] = []
    let together = 0
    try {
      rollBack()
      begin.run()
      const end = performance.now() + longestTransaction
      for (const job of jobs) {
        together = settle.length
        settle.push(run(job))
        if (!connection.isTransaction || performance.now() > end) break
      }
      together = Math.floor(settle.length / 2)
      commit.run()
      return settle
    } catch (error) {
      try {
        rollBack()
      } catch {
        // If this fails, the next transaction tries again before it begins.
      }
      return { error, together }
    }
  }
}

/** Moves all changes from the WAL to the database. Returns false if a reader or the disk prevents this. */
export const emptyWal = (connection: DatabaseSync): boolean => {
  try {
    if (connection.isTransaction) connection.exec('ROLLBACK')
    return connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0
  } catch {
    return false
  }
}

/** Waiting changes run in their order, as many as possible in one transaction. A change that throws changes nothing. */
export const createChangeQueue = (connection: DatabaseSync, file: string, options: DatabaseOptions) => {
  const { durable, yieldsRegularly } = options
  const transact = openTransactions(connection)
  const setLockWait = openPragma(connection, 'busy_timeout')
  const setSynchronous = openPragma(connection, 'synchronous')
  const setWalLimit = openPragma(connection, 'wal_autocheckpoint')
  setLockWait(lockWait)
  const waiting: Job[] = []
  let mostTogether = Number.POSITIVE_INFINITY
  let failedFlush: unknown
  let unflushed = 0
  let isScheduled = false
  let isClosed = false
  let workedSinceRest = 0
  let restsUntil = 0

  const schedule = (leastDelay: number) => {
    if (isScheduled || isClosed || waiting.length === 0) return
    isScheduled = true
    const delay = Math.max(leastDelay, restsUntil - performance.now())
    if (delay > 0) setTimeout(wake, delay)
    else setImmediate(wake)
  }

  const countWork = (duration: number) => {
    workedSinceRest += duration
    if (!yieldsRegularly || workedSinceRest < workBeforeRest) return
    workedSinceRest = 0
    restsUntil = performance.now() + rest
  }

  // After a failed flush, the system may count earlier pages of the WAL as flushed that are not on the disk. After a power
  // cut, SQLite would stop at these pages, and lose every later change. So the next change begins with an empty WAL.
  const canBegin = (): boolean => {
    if (failedFlush === undefined || emptyWal(connection)) {
      failedFlush = undefined
      return true
    }
    const refusal = isDiskFull(file) ? failedFlush : new ServiceError('unavailable', { cause: failedFlush })
    for (const { reject } of waiting.splice(0)) reject(refusal)
    return false
  }

  const recover = ({ error, together }: Failure): void => {
    if (isFailedFlush(error)) failedFlush = error
    if (isBusy(error)) {
      const now = performance.now()
      while (waiting[0] && (isClosed || waiting[0].until <= now)) waiting.shift()?.reject(error)
    } else if (together > 0) mostTogether = together
    else waiting.shift()?.reject(error)
  }

  const chooseFlush = (jobs: readonly Job[]): void => {
    const waitsForDisk = unflushed >= mostUnflushedTransactions || jobs.some((job) => job.waitsForDisk)
    unflushed = waitsForDisk ? 0 : unflushed + 1
    // In WAL mode, NORMAL syncs only at checkpoints. OFF would not even do that, and could damage the database. SQLite
    // does not report a failed flush of its checkpoint, so it makes one only right after a reported flush of the WAL.
    setSynchronous(durable && waitsForDisk ? 'FULL' : 'NORMAL')
    setWalLimit(durable && !waitsForDisk ? 0 : mostPagesInWal)
  }

  // Makes as many of the waiting changes as fit into one transaction. Returns the milliseconds until the next attempt.
  const makeSome = (): number => {
    if (!canBegin()) return 0
    const jobs = waiting.slice(0, mostTogether)
    chooseFlush(jobs)
    const begun = performance.now()
    const ending = transact(jobs)
    countWork(performance.now() - begun)
    // While another process has the database, only the timer waits, not SQLite.
    const isKeptOut = 'error' in ending && isBusy(ending.error)
    setLockWait(isKeptOut ? 0 : lockWait)
    if ('error' in ending) recover(ending)
    else {
      mostTogether *= 2
      waiting.splice(0, ending.length)
      for (const settle of ending) settle()
    }
    return isKeptOut ? pause : 0
  }

  function wake() {
    isScheduled = false
    if (waiting.length > 0) schedule(makeSome())
  }

  return {
    add<Result>(change: () => Result, waitsForDisk: boolean): Promise<Result> {
      if (isClosed) return Promise.reject(new ServiceError('unavailable'))
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      const until = performance.now() + longestWait
      waiting.push({ change, waitsForDisk, resolve, reject: (error) => reject(asPortError(error, file)), until })
      schedule(0)
      return promise
    },

    close(): void {
      isClosed = true
      while (waiting.length > 0) makeSome()
    },
  }
}
