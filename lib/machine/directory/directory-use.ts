import { accessSync, constants, existsSync, rmSync } from 'node:fs'
import { failureOf } from '../../core/system-failures.ts'
import {
  cannotBeWritten,
  clearDirectory,
  type DataDirectory,
  type DirectoryState,
  isResettable,
  isUsedByOldService,
  makeFolders,
  makeLocks,
  refusalOf,
  removeContents,
  stateOf,
  writeMarker,
} from './data-directory.ts'
import { contentsOf, damageOf } from './database-damage.ts'
import { type DirectoryLock, takeLock, waitForLock } from './directory-locks.ts'
import { UsageError } from './failures.ts'
import { giveAllIn, ownerToServe, syncFile, syncFolder, writePrivately } from './private-files.ts'

/** There is one service at a time, which makes a missing directory; commands work beside it or alone. */
export type Role = 'service' | 'command'

/**
 * The use of a directory by one process. Processes open and close it one after the other, under a lock, so that the
 * file `running` is there exactly while a database is open, or when one was not closed.
 */
export interface DirectoryUse {
  readonly isNew: boolean
  /** To be called when the database is open, and its WAL is there: lets the next process in. */
  opened(): void
  close(closeDatabase: () => void): Promise<void>
}

/** Throws UsageError when the contents of the directory must stay. */
export type Reset = false | ((contents: ReturnType<typeof contentsOf>) => Promise<void>)

interface UseRequest {
  readonly role: Role
  readonly reset: Reset
}

/** Milliseconds that another process may take to open or close the database. */
const longestWait = 30_000

const inUse = ({ path }: DataDirectory) =>
  new UsageError(
    `The data directory ${path} is in use by another process. Stop that one, or choose another with --data-dir.`,
  )

export const refusalOfAbsent = ({ path }: DataDirectory, { state }: DirectoryState): string | undefined => {
  const what = {
    absent: 'There is no directory',
    empty: 'There is no data in the directory',
    new: 'There is no data yet in the directory',
  }
  if (state !== 'absent' && state !== 'empty' && state !== 'new') return undefined
  return (
    `${what[state]} ${path}. "site-admin serve" makes a data directory, as "npm start" does in a clone; --data-dir ` +
    'names another one.'
  )
}

const admit = (directory: DataDirectory, { role, reset }: UseRequest): DirectoryState => {
  const state = stateOf(directory)
  const refusal =
    (role === 'command' ? refusalOfAbsent(directory, state) : undefined) ??
    (reset && isResettable(state) ? undefined : refusalOf(directory, state))
  if (refusal !== undefined) throw new UsageError(refusal)
  return state
}

export const isOnReadOnlyDisk = ({ path }: DataDirectory): boolean => {
  try {
    accessSync(path, constants.W_OK)
    return false
  } catch (error) {
    // Where rights are missing, whatever needs them says more.
    return failureOf(error) === 'readOnlyDisk'
  }
}

/** Throws UsageError on a read-only file system: even a reader takes locks, and makes files beside the database. */
const admitWriting = (directory: DataDirectory): void => {
  if (!isOnReadOnlyDisk(directory)) return
  throw new UsageError(
    `The data directory ${directory.path} is on a read-only file system, and every command but "check" writes ` +
      'there, such as locks. Copy it to a writable disk (cp -a), and name the copy with --data-dir. Nothing was ' +
      'changed.',
  )
}

const takeGate = async (directory: DataDirectory): Promise<DirectoryLock> => {
  const gate = await waitForLock(directory.locks.gate, 'exclusive', longestWait)
  if (gate) return gate
  throw new UsageError(
    `The data directory ${directory.path} is being opened or closed by another process. Repeat this when that is done.`,
  )
}

const isAlone = ({ locks }: DataDirectory): boolean => {
  const all = takeLock(locks.users, 'exclusive')
  all?.release()
  return all !== undefined
}

/** Answers whether the directory is new. The caller holds the gate. */
const prepare = async (directory: DataDirectory, request: UseRequest): Promise<boolean> => {
  const state = admit(directory, request)
  const alone = isAlone(directory)
  if (request.role === 'service' && (request.reset || state.state !== 'ready')) {
    if (!alone || isUsedByOldService(directory)) throw inUse(directory)
    if (request.reset && state.state !== 'empty' && state.state !== 'new') await request.reset(contentsOf(directory))
    clearDirectory(directory, 'new')
    makeFolders(directory)
    return true
  }
  if (request.role === 'service') makeFolders(directory)
  const damage = alone ? damageOf(directory, request.role === 'service' ? 'pages' : 'surface') : undefined
  if (damage !== undefined) throw new UsageError(damage)
  return false
}

/** The name of the WAL is on the disk before the marker: without a WAL, the marker says that changes are lost (O-20). */
const markRunning = ({ path, running, wal }: DataDirectory): void => {
  if (existsSync(running)) {
    // A killed process may have left changes that are not on the disk yet, and others build on them now.
    syncFile(wal)
  } else {
    syncFolder(path)
    writePrivately(running, '')
  }
}

const unmarkRunning = ({ path, running }: DataDirectory): void => {
  rmSync(running, { force: true })
  syncFolder(path)
}

/** The last process removes `running` before the WAL goes. */
const closeUnderGate = (directory: DataDirectory, users: DirectoryLock, close: () => void): void => {
  users.release()
  const last = takeLock(directory.locks.users, 'exclusive')
  try {
    if (last) unmarkRunning(directory)
    close()
  } finally {
    last?.release()
  }
}

const createLockList = () => {
  const locks: DirectoryLock[] = []
  return {
    keep<Lock extends DirectoryLock | undefined>(lock: Lock): Lock {
      if (lock) locks.push(lock)
      return lock
    },
    releaseAll() {
      for (const lock of locks.splice(0)) lock.release()
    },
  }
}

/** Throws UsageError when the directory cannot be used; nothing in it is changed then. */
export const useDirectory = async (directory: DataDirectory, request: UseRequest): Promise<DirectoryUse> => {
  const { keep, releaseAll } = createLockList()

  try {
    if (admit(directory, request).state === 'ready') admitWriting(directory)
    makeLocks(directory)
    const gate = keep(await takeGate(directory))
    if (request.role === 'service' && !keep(takeLock(directory.locks.service, 'exclusive'))) throw inUse(directory)
    const isNew = await prepare(directory, request)
    const users = keep(takeLock(directory.locks.users, 'shared'))
    if (!users) throw inUse(directory)
    let isOpen = false

    return {
      isNew,
      opened() {
        markRunning(directory)
        if (isNew) writeMarker(directory, 'ready')
        isOpen = true
        gate.release()
      },
      async close(closeDatabase) {
        if (isOpen) keep(await takeGate(directory))
        try {
          closeUnderGate(directory, users, closeDatabase)
        } finally {
          releaseAll()
        }
      },
    }
  } catch (error) {
    releaseAll()
    throw error instanceof UsageError ? error : cannotBeWritten(directory, error)
  }
}

export interface DirectoryClaim {
  fulfil(): void
  giveUp(): void
}

const fillable: ReadonlySet<DirectoryState['state']> = new Set(['absent', 'empty', 'new', 'half restored'])

const admitEmpty = (directory: DataDirectory): DirectoryState => {
  const state = stateOf(directory)
  if (fillable.has(state.state)) return state
  throw new UsageError(
    refusalOf(directory, state) ??
      `The data directory ${directory.path} holds data already. Name an empty one with --data-dir. Nothing was ` +
        'changed.',
  )
}

/**
 * Takes an empty directory to fill it. If the process dies, the directory says so. Throws UsageError when it is not
 * empty, or in use.
 */
export const claimEmpty = async (directory: DataDirectory): Promise<DirectoryClaim> => {
  const { path, locks, marker } = directory
  const { keep, releaseAll } = createLockList()
  const take = (lock: DirectoryLock | undefined) => {
    if (!keep(lock)) throw inUse(directory)
  }
  const { state } = admitEmpty(directory)
  try {
    makeLocks(directory)
    take(await takeGate(directory))
    take(takeLock(locks.service, 'exclusive'))
    take(takeLock(locks.users, 'exclusive'))
    admitEmpty(directory)
    clearDirectory(directory, 'half restored')
    makeFolders(directory)
  } catch (error) {
    releaseAll()
    throw error instanceof UsageError ? error : cannotBeWritten(directory, error)
  }
  return {
    fulfil() {
      // The folder may be that of the service's user, and root has filled it: the service could not use what is root's.
      const owner = ownerToServe(path)
      if (owner) giveAllIn(path, owner)
      writeMarker(directory, 'ready', owner)
      releaseAll()
    },
    giveUp() {
      removeContents(directory)
      rmSync(marker)
      releaseAll()
      rmSync(state === 'absent' ? path : locks.folder, { recursive: true })
    },
  }
}

/** Nobody opens or closes the database meanwhile. Takes no lock where nothing can be written. */
export const whileUnopened = async <Result>(directory: DataDirectory, look: () => Result): Promise<Result> => {
  let gate: DirectoryLock | undefined
  try {
    makeLocks(directory)
    gate = await takeGate(directory)
  } catch (error) {
    if (error instanceof UsageError) throw error
  }
  try {
    return look()
  } finally {
    gate?.release()
  }
}

export const hasService = ({ locks }: DataDirectory): boolean => {
  if (!existsSync(locks.service)) return false
  const lock = takeLock(locks.service, 'shared')
  lock?.release()
  return lock === undefined
}
