import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite'
import { setTimeout as sleep, setImmediate as yieldTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { ServiceError } from '../../core/errors.ts'
import { asPortError, isBusy } from '../../core/system-failures.ts'
import { createTransactions, type Job, type TransactionOutcome } from './transactions.ts'

export interface DatabaseOptions {
  readonly durable: boolean
  /** A command pauses regularly, so that a server can use the database meanwhile. */
  readonly yieldsRegularly?: boolean
}

interface WaitingJob extends Job {
  /**
   * A moment on the monotonic clock. After this moment, the change is refused if another process still has the
   * database.
   */
  readonly until: number
  resolve(value: unknown): void
  reject(error: unknown): void
}

// In milliseconds: SQLite itself waits this long for another process, and this process waits with it.
const lockWait = 20
// In milliseconds: after `lockWait`, a timer repeats the change for this long. Meanwhile the rest of the process runs.
const longestWait = 5_000
// In milliseconds. The pause is short, because a busy process frees the database only for moments.
const pause = 1
// In bytes: four times the size at which SQLite moves the changes of the WAL to the database.
const largestWal = 16 * 1024 ** 2
// In milliseconds: after this much work, a command pauses.
const workBeforeRest = 20
const rest = 4
// After this many rows, which take about 20 ms, reads let other work run first.
const rowsPerTurn = 3_000

/**
 * A database may come from an unknown source, so its schema may call no dangerous functions, and broken pages are
 * errors (O-13).
 */
export const connect = (file: string | URL, options: DatabaseSyncOptions = {}): DatabaseSync => {
  const connection = new DatabaseSync(file, options)
  connection.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON')
  return connection
}

/** Opens a database that no process uses, read-only. Creates no files beside the database. */
export const openImmutable = (file: string): DatabaseSync =>
  connect(new URL(`${pathToFileURL(file).href}?immutable=1`), { readOnly: true })

const connectToWrite = (file: string): DatabaseSync => {
  // No request waits yet. Processes that open a new database at the same time may wait for each other.
  const connection = connect(file, { timeout: longestWait })
  try {
    // Temporary data of SQLite stays in memory, and so needs no disk space and no file handles. The WAL grows during a
    // check or a backup of another process, and then shrinks again.
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY')
    connection.exec(`PRAGMA journal_size_limit = ${largestWal}`)
    // Without this, flushes on macOS stop at the cache of the disk. On other systems it changes nothing.
    connection.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON')
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

const openPragma = (connection: DatabaseSync, name: string) => {
  let current: number | string | undefined
  return (value: number | string) => {
    if (value !== current) connection.exec(`PRAGMA ${name} = ${value}`)
    current = value
  }
}

const createWaitingJobs = () => {
  const jobs: WaitingJob[] = []
  // After a failure, fewer jobs share a transaction, so that one bad job does not make the others fail.
  let mostTogether = Number.POSITIVE_INFINITY

  return {
    add: (job: WaitingJob) => void jobs.push(job),
    isEmpty: () => jobs.length === 0,
    next: (): readonly Job[] => jobs.slice(0, mostTogether),

    /** Refuses the jobs at the front that have waited too long, or all jobs when the database is closed. */
    refuseLate(error: unknown, isClosed: boolean): void {
      const now = performance.now()
      const firstInTime = isClosed ? -1 : jobs.findIndex(({ until }) => now < until)
      for (const { reject } of jobs.splice(0, firstInTime < 0 ? jobs.length : firstInTime)) reject(error)
    },

    settle(ending: Exclude<TransactionOutcome, { outcome: 'kept out' }>): void {
      if (ending.outcome === 'done') {
        mostTogether *= 2
        for (const [index, { resolve, reject }] of jobs.splice(0, ending.results.length).entries()) {
          const result = ending.results[index]
          if (result && 'value' in result) resolve(result.value)
          else reject(result?.error)
        }
      } else if (ending.together > 0) mostTogether = ending.together
      else jobs.shift()?.reject(ending.error)
    },
  }
}

const createChangeQueue = (connection: DatabaseSync, { durable, yieldsRegularly }: DatabaseOptions) => {
  const transact = createTransactions(connection)
  const setLockWait = openPragma(connection, 'busy_timeout')
  const setSynchronous = openPragma(connection, 'synchronous')
  setLockWait(lockWait)
  const waiting = createWaitingJobs()
  let isScheduled = false
  let isClosed = false
  let workedSinceRest = 0
  let restsUntil = 0

  const schedule = (leastDelay: number) => {
    if (isScheduled || isClosed || waiting.isEmpty()) return
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

  // Makes as many of the waiting changes as fit into one transaction. Returns the milliseconds until the next attempt.
  const makeSome = (): number => {
    const jobs = waiting.next()
    // In WAL mode, NORMAL syncs only at checkpoints. OFF would not even do that, and could damage the database.
    setSynchronous(durable && jobs.some(({ waitsForDisk }) => waitsForDisk) ? 'FULL' : 'NORMAL')
    const begun = performance.now()
    const ending = transact(jobs)
    countWork(performance.now() - begun)
    // While another process has the database, only the timer waits, not SQLite.
    setLockWait(ending.outcome === 'kept out' ? 0 : lockWait)
    if (ending.outcome === 'kept out') {
      waiting.refuseLate(ending.error, isClosed)
      return pause
    }
    waiting.settle(ending)
    return 0
  }

  function wake() {
    isScheduled = false
    if (!waiting.isEmpty()) schedule(makeSome())
  }

  return {
    isClosed: () => isClosed,

    add(job: Omit<WaitingJob, 'until'>): void {
      waiting.add({ ...job, until: performance.now() + longestWait })
      schedule(0)
    },

    close(): void {
      isClosed = true
      while (!waiting.isEmpty()) makeSome()
    },
  }
}

/**
 * The one SQLite database of a machine. While SQLite works, the rest of the process waits, so changes are short. The
 * changes of one turn of the event loop share a transaction, and therefore one wait for the disk.
 */
export const openDatabase = (file: string, options: DatabaseOptions) => {
  const connection = connectToWrite(file)
  const queue = createChangeQueue(connection, options)
  let rowsRead = 0
  const beginTurn = () => {
    rowsRead = 0
  }

  const change = <Result>(make: () => Result, waitsForDisk: boolean): Promise<Result> => {
    if (queue.isClosed()) return Promise.reject(new ServiceError('unavailable'))
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    queue.add({ change: make, waitsForDisk, resolve, reject: (error) => reject(asPortError(error, file)) })
    return promise
  }

  return {
    /**
     * The statements of `read`, `write` and `note` use this connection. Do not leave an iterator open, because it keeps
     * writers out. Write a limit as `LIMIT +?`: with a bare parameter, SQLite would compile the statement for each call,
     * which takes longer than running it (29 µs against 6).
     */
    connection,

    /** Runs a query, at once unless the database is locked. Errors of the query pass unchanged. Errors: unavailable. */
    async read<Result>(query: () => Result, mostRows = 1): Promise<Result> {
      if (rowsRead >= rowsPerTurn) {
        await yieldTurn()
        beginTurn()
      }
      if (rowsRead === 0) setImmediate(beginTurn)
      rowsRead += mostRows
      for (const until = performance.now() + longestWait; ; await sleep(pause)) {
        try {
          return query()
        } catch (error) {
          if (!isBusy(error) || performance.now() > until) throw asPortError(error, file)
        }
      }
    },

    /**
     * Runs a change. When the promise resolves, all of the change is on the disk. If `make` throws, nothing of the
     * change is, and the error passes unchanged. Changes run in the order of their calls. `make` may run more than once,
     * and must do nothing outside the database. Errors: unavailable (another process has locked the database for 5
     * seconds, or it is closed), outOfSpace.
     */
    write: <Result>(make: () => Result) => change(make, true),
    /**
     * Works as `write`, but does not wait for the disk. The change survives the end of the process, but not a power cut.
     */
    note: <Result>(make: () => Result) => change(make, false),

    close(): void {
      if (queue.isClosed()) return
      queue.close()
      connection.close()
    },
  }
}

export type Database = ReturnType<typeof openDatabase>
