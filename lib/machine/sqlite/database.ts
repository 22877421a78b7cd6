import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { ServiceError } from '../../core/errors.ts'
import { asPortError, isBusy } from '../../core/system-failures.ts'
import { createTransactions, type Job, type TransactionOutcome } from './transactions.ts'

/**
 * The one SQLite database of a machine. The rest of the process waits while SQLite works, so changes are short. The
 * changes of one turn of the event loop share a transaction, and so its wait for the disk.
 */
export interface Database {
  /**
   * For the statements of `read`, `write` and `note`. Do not leave an iterator open: it keeps writers out. Write a
   * limit as `LIMIT +?`: with a bare parameter, SQLite compiles the statement for each call, which takes longer than
   * running it (29 µs against 6).
   */
  readonly connection: DatabaseSync
  /** Runs a query, at once unless the database is locked. Its errors pass unchanged. Errors: unavailable. */
  read<Result>(query: () => Result): Promise<Result>
  /**
   * Runs a change. All of it is on the disk when the promise resolves; none of it if `change` throws; the error passes
   * unchanged. Changes run in the order of their calls. `change` may run more than once, and must do nothing outside of
   * the database. Errors: unavailable (another process has locked the database for 5 seconds, or it is closed),
   * outOfSpace.
   */
  write<Result>(change: () => Result): Promise<Result>
  /** The same without waiting for the disk: it survives the end of the process, but not a power cut. */
  note<Result>(change: () => Result): Promise<Result>
  close(): void
}

export interface DatabaseOptions {
  readonly durable: boolean
  /** For a command beside a server: pauses regularly, so that the server can use the database. */
  readonly yieldsRegularly?: boolean
}

interface WaitingJob extends Job {
  /** On the monotonic clock: it is refused after this if another process has the database. */
  readonly until: number
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** Milliseconds that SQLite itself waits for another process, and this process with it. */
const lockWait = 20
/** Milliseconds in which a timer repeats the change after that. The rest of the process runs meanwhile. */
const longestWait = 5_000
/** Short, because a busy process frees the database only for moments. */
const pause = 1
/** Milliseconds of work after which a command pauses. */
const workBeforeRest = 20
const rest = 4

/** A database may come from anywhere: its schema calls no dangerous functions, and broken pages are errors (O-13). */
export const connect = (file: string | URL, options: DatabaseSyncOptions = {}): DatabaseSync => {
  const connection = new DatabaseSync(file, options)
  connection.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON')
  return connection
}

/** Opens an unused database read-only. Writes nothing beside it. */
export const openImmutable = (file: string): DatabaseSync =>
  connect(new URL(`${pathToFileURL(file).href}?immutable=1`), { readOnly: true })

const connectToWrite = (file: string): DatabaseSync => {
  // No request waits yet: processes that open a new database at once may wait for each other.
  const connection = connect(file, { timeout: longestWait })
  try {
    // Temporary data of SQLite stays in memory: it needs no disk space and no file handles.
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY')
    // On macOS, flushes stop at the cache of the disk without it. Elsewhere it changes nothing.
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
  /**
   * Number of first jobs that failed together: each gets a transaction of its own, so that one does not spoil it for
   * the others.
   */
  let singles = 0

  const take = (count: number) => {
    singles = Math.max(singles - count, 0)
    return jobs.splice(0, count)
  }

  return {
    add: (job: WaitingJob) => void jobs.push(job),
    isEmpty: () => jobs.length === 0,
    next: (): readonly Job[] => jobs.slice(0, singles > 0 ? 1 : jobs.length),

    /** Refuses the first jobs, which have waited too long; all of them when the database is closed. */
    refuseLate(error: unknown, isClosed: boolean): void {
      const now = performance.now()
      const firstInTime = isClosed ? -1 : jobs.findIndex(({ until }) => now < until)
      for (const { reject } of take(firstInTime < 0 ? jobs.length : firstInTime)) reject(error)
    },

    settle(tried: readonly Job[], ending: TransactionOutcome): void {
      if (ending.outcome === 'done') {
        for (const [index, { resolve, reject }] of take(ending.results.length).entries()) {
          const result = ending.results[index]
          if (result && 'value' in result) resolve(result.value)
          else reject(result?.error)
        }
      } else if (tried.length > 1) singles = tried.length
      else for (const { reject } of take(1)) reject(ending.error)
    },
  }
}

const createChangeQueue = (connection: DatabaseSync, { durable, yieldsRegularly = false }: DatabaseOptions) => {
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

  /** Makes as many of the waiting changes as one transaction takes. Returns the milliseconds until the next attempt. */
  const makeSome = (): number => {
    const jobs = waiting.next()
    // In WAL mode NORMAL syncs at checkpoints only; OFF would not even do that, and could damage the database.
    setSynchronous(durable && jobs.some(({ waitsForDisk }) => waitsForDisk) ? 'FULL' : 'NORMAL')
    const begun = performance.now()
    const ending = transact(jobs)
    countWork(performance.now() - begun)
    // After SQLite has waited in vain, the timer waits.
    setLockWait(ending.outcome === 'kept out' ? 0 : lockWait)
    if (ending.outcome === 'kept out') {
      waiting.refuseLate(ending.error, isClosed)
      return pause
    }
    waiting.settle(jobs, ending)
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

export const openDatabase = (file: string, options: DatabaseOptions): Database => {
  const connection = connectToWrite(file)
  const queue = createChangeQueue(connection, options)

  const change = <Result>(make: () => Result, waitsForDisk: boolean): Promise<Result> => {
    if (queue.isClosed()) return Promise.reject(new ServiceError('unavailable'))
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    queue.add({ change: make, waitsForDisk, resolve, reject: (error) => reject(asPortError(error, file)) })
    return promise
  }

  return {
    connection,

    async read(query) {
      for (const until = performance.now() + longestWait; ; await sleep(pause)) {
        try {
          return query()
        } catch (error) {
          if (!isBusy(error) || performance.now() > until) throw asPortError(error, file)
        }
      }
    },

    write: (make) => change(make, true),
    note: (make) => change(make, false),

    close() {
      if (queue.isClosed()) return
      queue.close()
      connection.close()
    },
  }
}
