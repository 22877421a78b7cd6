import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite'
import { setTimeout as sleep, setImmediate as yieldTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { asPortError, isBusy } from '../../core/system-failures.ts'
import { createChangeQueue, type DatabaseOptions, emptyWal, longestWait, pause } from './change-queue.ts'

// In bytes: four times the size at which SQLite moves the changes of the WAL to the database.
const largestWal = 16 * 1024 ** 2
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
  using opened = new DisposableStack()
  const connection = opened.use(connect(file, { timeout: longestWait }))
  // Temporary data of SQLite stays in memory, and so needs no disk space and no file handles. The WAL grows during a
  // check or a backup of another process, and then shrinks again.
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY')
  connection.exec(`PRAGMA journal_size_limit = ${largestWal}`)
  // Without this, flushes on macOS stop at the cache of the disk. On other systems it changes nothing.
  connection.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON')
  opened.move()
  return connection
}

/**
 * The one SQLite database of a machine. While SQLite works, the rest of the process waits, so changes are short. The
 * changes of one turn of the event loop share a transaction, and therefore one wait for the disk.
 */
export const openDatabase = (file: string, options: DatabaseOptions) => {
  const connection = connectToWrite(file)
  const queue = createChangeQueue(connection, file, options)
  let rowsRead = 0
  const beginTurn = () => {
    rowsRead = 0
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
    write: <Result>(make: () => Result) => queue.add(make, true),
    /**
     * Works as `write`, but does not wait for the disk. The change survives the end of the process, but not a power cut.
     */
    note: <Result>(make: () => Result) => queue.add(make, false),

    /** Makes the waiting changes, refuses later ones, and empties the WAL. Returns false if this is not possible. */
    finish(): boolean {
      queue.close()
      return emptyWal(connection)
    },

    close(): void {
      if (!connection.isOpen) return
      queue.close()
      connection.close()
    },
  }
}

export type Database = ReturnType<typeof openDatabase>
