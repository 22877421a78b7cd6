import { existsSync, rmSync, unlinkSync } from 'node:fs'
import { asPortError, isOutOfSpace } from '../../core/system-failures.ts'
import { emptyWal } from '../sqlite/change-queue.ts'
import { type Database, openDatabase } from '../sqlite/database.ts'
import { isEmpty, prepareSchema, refusalOfTables, schemaFaults } from '../sqlite/schema.ts'
import {
  type DataDirectory,
  flush,
  giveToOwner,
  layoutOf,
  makeFolders,
  makeLocks,
  makePrivateFile,
  removeContents,
  writeMarker,
  writePrivately,
} from './data-directory.ts'
import { cannotBeWritten, type Fault, type Purpose, reasonWithAdvice, refusalOf, UsageError } from './faults.ts'
import { admit, countContents, inspect, inspectDatabase, isOnReadOnlyDisk } from './inspect.ts'
import { isFree, isUsedByOldService, takeGate, takeLock, takeLockOf } from './locks.ts'

/** Throws UsageError when the contents of the directory may not be removed. */
export type Reset = false | ((contents: ReturnType<typeof countContents>) => Promise<void>)

export interface Opening {
  /**
   * Only one service at a time uses a directory. The service creates a missing directory. Commands can work while a
   * service runs, or without a service.
   */
  readonly role: 'service' | 'command'
  readonly reset: Reset
  readonly durable: boolean
}

const purposeOf = ({ role, reset }: Opening): Purpose => (role === 'command' ? 'command' : reset ? 'reset' : 'serve')

// If this function is interrupted, the marker already marks the directory as incomplete. The caller holds every lock.
const begin = (directory: DataDirectory, state: 'new' | 'half restored', fault: Fault | undefined): void => {
  writeMarker(directory, state)
  removeContents(directory, fault?.code === 'ofEarlyVersion')
  makeFolders(directory)
}

// True if the directory is new. The caller holds the gate.
const prepare = async (directory: DataDirectory, request: Opening, isAlone: boolean): Promise<boolean> => {
  const { role, reset } = request
  const fault = admit(directory, purposeOf(request))
  if (role === 'service' && (reset || fault)) {
    if (!isAlone || isUsedByOldService(directory)) throw refusalOf(directory, { code: 'inUse' })
    if (reset && fault?.code !== 'empty' && fault?.code !== 'new') await reset(countContents(directory))
    begin(directory, 'new', fault)
    return true
  }
  if (role === 'service') makeFolders(directory)
  const damage = isAlone ? inspectDatabase(directory, role === 'service' ? 'pages' : 'surface') : undefined
  if (damage) throw refusalOf(directory, damage)
  return false
}

const enter = async (directory: DataDirectory, request: Opening) => {
  try {
    const fault = admit(directory, purposeOf(request))
    if (!fault && isOnReadOnlyDisk(directory)) throw refusalOf(directory, { code: 'onReadOnlyDisk' })
    makeLocks(directory)
    using gate = new DisposableStack()
    gate.use(await takeGate(directory))
    using service = new DisposableStack()
    if (request.role === 'service') service.use(takeLockOf(directory, 'service', 'exclusive'))
    const isAlone = isFree(directory.locks.users, 'exclusive')
    const isNew = await prepare(directory, request, isAlone)
    const users = takeLockOf(directory, 'users', 'shared')
    return { gate: gate.move(), isAlone, isNew, service: service.move(), users }
  } catch (error) {
    throw cannotBeWritten(directory, error)
  }
}

type Entry = Awaited<ReturnType<typeof enter>>

// The name of the WAL is on the disk before `running` is written: if the WAL is missing later, `running` shows that
// changes are lost (O-20).
const writeRunning = ({ path, running, wal }: DataDirectory, { connection }: Database, isAlone: boolean): void => {
  if (existsSync(running)) {
    // A killed process may have left changes that are not flushed, and other processes now depend on these changes. If
    // a flush failed in that process, the WAL may wrongly count as flushed. So the changes move to the database file.
    flush(wal)
    if (isAlone) emptyWal(connection)
  } else {
    flush(path)
    writePrivately(running, '')
  }
}

// On a read-only disk, the errors of `rmSync` have no code.
const removeRunning = ({ path, running }: DataDirectory): void => {
  if (!existsSync(running)) return
  unlinkSync(running)
  flush(path)
}

// The caller holds the gate. While only the WAL has some changes, `running` must stay: a reader such as `check`, or a
// full disk, may prevent SQLite from moving them (O-14).
const leave = (directory: DataDirectory, { service, users }: Entry, database: Database | undefined): void => {
  using _service = service
  users[Symbol.dispose]()
  using last = takeLock(directory.locks.users, 'exclusive')
  if (last && database?.finish()) removeRunning(directory)
  database?.close()
  // The reader may have ended just before. SQLite removes the WAL only after moving all changes.
  if (last && !existsSync(directory.wal)) removeRunning(directory)
}

const prepareTables = (directory: DataDirectory, { connection }: Database): void => {
  const hasOwnTables = !isEmpty(connection) && refusalOfTables(connection) === undefined
  const [damage] = hasOwnTables ? schemaFaults(connection) : []
  if (damage !== undefined) throw refusalOf(directory, { code: 'databaseDamaged', detail: damage })
  prepareSchema(connection)
  if (!existsSync(directory.wal)) throw new Error(`SQLite did not create ${directory.wal}`)
}

export const cannotBeOpened = (directory: DataDirectory, error: unknown): UsageError => {
  if (error instanceof UsageError) return error
  if (isOutOfSpace(asPortError(error, directory.database))) return refusalOf(directory, { code: 'diskFull' }, error)
  const what = `The data directory ${directory.path} cannot be opened: ${reasonWithAdvice(error)}`
  return new UsageError(what, { cause: error })
}

/**
 * Processes open and close a directory one after the other, under the gate. So the file `running` exists exactly while
 * a database is open, or after a process has left changes in the WAL. Throws UsageError with what to do when the
 * directory cannot be used; then nothing in it is changed.
 */
export const openDataDirectory = async (path: string, request: Opening) => {
  const directory = layoutOf(path)
  const entry = await enter(directory, request)
  using _gate = entry.gate
  let opened: Database | undefined
  try {
    // SQLite gives its additional files the mode of the database file.
    makePrivateFile(directory.database)
    // Commands may make many changes at once, while callers of the service wait.
    const yieldsRegularly = request.role === 'command'
    opened = openDatabase(directory.database, { durable: request.durable, yieldsRegularly })
    prepareTables(directory, opened)
    writeRunning(directory, opened, entry.isAlone)
    if (entry.isNew) writeMarker(directory, 'ready')
  } catch (error) {
    leave(directory, entry, opened)
    throw cannotBeOpened(directory, error)
  }
  const database = opened
  return {
    directory,
    database,
    async close(): Promise<void> {
      try {
        using _gate = await takeGate(directory)
        leave(directory, entry, database)
      } catch (error) {
        throw cannotBeWritten(directory, error)
      }
    },
  }
}

export type OpenDataDirectory = Awaited<ReturnType<typeof openDataDirectory>>

const admitEmpty = (directory: DataDirectory): Fault => {
  const fault = admit(directory, 'restore')
  if (fault) return fault
  throw refusalOf(directory, { code: 'notEmpty' })
}

const lockEmpty = async (directory: DataDirectory): Promise<Disposable> => {
  try {
    using taken = new DisposableStack()
    makeLocks(directory)
    taken.use(await takeGate(directory))
    taken.use(takeLockOf(directory, 'service', 'exclusive'))
    taken.use(takeLockOf(directory, 'users', 'exclusive'))
    admitEmpty(directory)
    return taken.move()
  } catch (error) {
    throw cannotBeWritten(directory, error)
  }
}

/** Takes an empty directory, to fill it. Throws UsageError when the directory is not empty, or is in use. */
export const claimEmpty = async (directory: DataDirectory) => {
  const { path, locks, marker } = directory
  const wasAbsent = admitEmpty(directory).code === 'absent'
  const held = await lockEmpty(directory)
  const wasHalfRestored = inspect(directory)?.code === 'halfRestored'
  return {
    wasHalfRestored,
    begin: () => begin(directory, 'half restored', undefined),
    fulfil() {
      // Root may have filled the folder of the user who runs the service, and this user cannot use files of root.
      const owner = giveToOwner(path)
      writeMarker(directory, 'ready', owner)
      held[Symbol.dispose]()
    },
    giveUp() {
      removeContents(directory)
      // Until a restore succeeds, the marker of an interrupted restore prevents that a service starts.
      for (const file of [...(wasHalfRestored ? [] : [marker]), `${marker}.new`])
        rmSync(file, { recursive: true, force: true })
      held[Symbol.dispose]()
      rmSync(wasAbsent ? path : locks.folder, { recursive: true })
    },
  }
}
