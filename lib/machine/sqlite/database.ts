import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../core/errors.ts'
import { asPortError, isBusy } from '../../core/system-failures.ts'
import { type Ending, type Job, openTransactions } from './transactions.ts'

/**
 * The one SQLite database of a machine. SQLite works while everything else of the process waits, so changes are short, and those
 * that are asked for in one turn of the event loop share a transaction, and with it the wait for the disk.
 */
export interface Database {
  /**
   * For the statements that `read`, `write` and `note` run. An iterator must not be left open: it would keep writers out. A limit is written
   * `LIMIT +?`: SQLite compiles a statement anew whenever a bare parameter there is bound, which takes longer than to run it (29 µs against 6).
   */
  readonly connection: DatabaseSync
  /** Runs a query, at once when nobody is in the way. What it throws comes through. Errors: unavailable. */
  read<Result>(query: () => Result): Promise<Result>
  /**
   * Runs a change. All of it stays, and is on the disk, when the promise resolves; none of it when `change` throws, whose error comes
   * through. Changes are made in the order in which they were asked for. `change` may be run more than once, and must do nothing
   * outside of the database. Errors: unavailable (another process has kept the database to itself for 5 seconds, or it is closed),
   * outOfSpace.
   */
  write<Result>(change: () => Result): Promise<Result>
  /** The same for what nobody misses after a power cut: it outlives the process, but waits for no disk. */
  note<Result>(change: () => Result): Promise<Result>
  /** Makes the changes that are waiting, or refuses them when another process is in the way. */
  close(): void
}

interface WaitingJob extends Job {
  /** When it has waited long enough for another process, by the monotonic clock in milliseconds. */
  readonly until: number
}

/** How long SQLite itself waits for another process, with everything else of this one; in milliseconds. */
const lockWait = 20
/** How long a change is tried again after that, from a timer, while everything else goes on. */
const patience = 5_000
/** A process that makes one change after the other lets go for a moment only: to look seldom would be to miss it. */
const pause = 1
/** One that makes many changes rests after it has had the database for so long, so that others find it free; in milliseconds. */
const longestHold = 20
const rest = 4

export interface DatabaseOptions {
  /** Whether changes wait for the disk: if not, all of them are but notes. */
  readonly durable: boolean
  /** For a command that works beside a server: whether it lets the server have the database every now and then. */
  readonly givesWay?: boolean
}

const connect = (file: string): DatabaseSync => {
  // Nobody is served yet: processes that open a new database at once may wait for each other.
  const connection = new DatabaseSync(file, { timeout: patience })
  try {
    // What SQLite puts aside for a moment takes neither room on the disk nor file handles.
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY')
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Sets a pragma only when it is not set to that yet. */
const openPragma = (connection: DatabaseSync, name: string) => {
  let current: number | string | undefined
  return (value: number | string) => {
    if (value !== current) connection.exec(`PRAGMA ${name} = ${value}`)
    current = value
  }
}

/** Opens the database. Errors: those of SQLite. */
export const openDatabase = (file: string, { durable: isDurable, givesWay = false }: DatabaseOptions): Database => {
  const connection = connect(file)
  const transact = openTransactions(connection, isBusy)
  const waitForLock = openPragma(connection, 'busy_timeout')
  const synchronise = openPragma(connection, 'synchronous')
  waitForLock(lockWait)
  /** In their order. A job leaves when it is known what became of it. */
  const waiting: WaitingJob[] = []
  /** So many of the first ones have failed together: each gets a transaction of its own, lest one spoils it for the others. */
  let apart = 0
  let isScheduled = false
  let isClosed = false
  /** How long it has had the database since it last rested, and when it has rested. */
  let held = 0
  let restedAt = 0

  const schedule = (leastDelay: number) => {
    if (isScheduled || isClosed || waiting.length === 0) return
    isScheduled = true
    const delay = Math.max(leastDelay, restedAt - performance.now())
    if (delay > 0) setTimeout(wake, delay)
    else setImmediate(wake)
  }

  const leave = (count: number) => {
    apart = Math.max(apart - count, 0)
    return waiting.splice(0, count)
  }

  /** The first ones have waited longest. */
  const refuseImpatient = (error: unknown) => {
    const now = performance.now()
    const patient = isClosed ? -1 : waiting.findIndex(({ until }) => now < until)
    for (const { fail } of leave(patient < 0 ? waiting.length : patient)) fail(error)
  }

  /** Answers when to go on, in milliseconds. */
  const settle = (jobs: readonly Job[], ending: Ending): number => {
    if (ending.outcome === 'kept out') {
      refuseImpatient(ending.error)
      return pause
    }
    if (ending.outcome === 'done') {
      leave(ending.tell.length)
      for (const tell of ending.tell) tell()
    } else if (jobs.length > 1) apart = jobs.length
    else for (const { fail } of leave(1)) fail(ending.error)
    return 0
  }

  const rememberToRest = (duration: number) => {
    held += duration
    if (!givesWay || held < longestHold) return
    held = 0
    restedAt = performance.now() + rest
  }

  /** Makes as many of the waiting changes as one transaction holds. Answers when to go on, in milliseconds. */
  const makeSome = (): number => {
    const jobs = waiting.slice(0, apart > 0 ? 1 : waiting.length)
    // In WAL mode NORMAL syncs at checkpoints only; OFF would not even do that, and could damage the database.
    synchronise(isDurable && jobs.some(({ waitsForDisk }) => waitsForDisk) ? 'FULL' : 'NORMAL')
    const begun = performance.now()
    const ending = transact(jobs)
    rememberToRest(performance.now() - begun)
    // When SQLite has waited in vain, the timer waits from then on.
    waitForLock(ending.outcome === 'kept out' ? 0 : lockWait)
    return settle(jobs, ending)
  }

  function wake() {
    isScheduled = false
    if (waiting.length > 0) schedule(makeSome())
  }

  const ask = <Result>(change: () => Result, waitsForDisk: boolean): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const until = performance.now() + patience
    if (isClosed) reject(new ServiceError('unavailable'))
    else {
      waiting.push({
        change() {
          const result = change()
          return () => resolve(result)
        },
        fail: (error) => reject(asPortError(error, file)),
        waitsForDisk,
        until,
      })
    }
    schedule(0)
    return promise
  }

  return {
    connection,

    async read(query) {
      for (const until = performance.now() + patience; ; await sleep(pause)) {
        try {
          return query()
        } catch (error) {
          if (!isBusy(error) || performance.now() > until) throw asPortError(error, file)
        }
      }
    },

    write: (change) => ask(change, true),
    note: (change) => ask(change, false),

    close() {
      if (isClosed) return
      isClosed = true
      while (waiting.length > 0) makeSome()
      connection.close()
    },
  }
}
