import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isBusy } from '../../core/system-failures.ts'
import { connect } from '../sqlite/database.ts'
import { type DataDirectory, makeLocks, makePrivateFile } from './data-directory.ts'
import { cannotBeWritten, isForbidden, refusalOf, UsageError } from './faults.ts'

type LockKind = 'shared' | 'exclusive'

/**
 * Takes a lock of the operating system through SQLite. The lock ends with its process. Nothing is ever written to the
 * lock file. Returns undefined when another process has the lock.
 */
export const takeLock = (file: string, kind: LockKind): Disposable | undefined => {
  makePrivateFile(file)
  const database = connect(file, { timeout: 0 })
  try {
    // A journal file on the disk would outlive this process.
    database.exec('PRAGMA journal_mode = MEMORY')
    database.exec(kind === 'exclusive' ? 'BEGIN EXCLUSIVE' : 'BEGIN')
    // A transaction takes its shared lock only when it first reads.
    if (kind === 'shared') database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return database
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

export const isFree = (file: string, kind: LockKind): boolean => {
  using lock = takeLock(file, kind)
  return lock !== undefined
}

export const hasService = ({ locks }: DataDirectory): boolean =>
  existsSync(locks.service) && !isFree(locks.service, 'shared')

export const isUsedByOldService = ({ path }: DataDirectory): boolean => {
  const file = join(path, 'run', 'lock')
  return existsSync(file) && !isFree(file, 'exclusive')
}

// In milliseconds: how long another process may take to open or close the database, and the time between two attempts.
const longestWait = 30_000
const interval = 10

/**
 * While this lock is held, no other process opens or closes the database. Throws UsageError when another process holds
 * the lock for too long.
 */
export const takeGate = async (directory: DataDirectory): Promise<Disposable> => {
  for (const until = performance.now() + longestWait; performance.now() < until; await pause(interval)) {
    const gate = takeLock(directory.locks.gate, 'exclusive')
    if (gate) return gate
  }
  throw refusalOf(directory, { code: 'beingOpened' })
}

/** Takes the gate for a reader. Returns undefined on a read-only file system. */
export const tryToTakeGate = async (directory: DataDirectory): Promise<Disposable | undefined> => {
  try {
    makeLocks(directory)
    return await takeGate(directory)
  } catch (error) {
    if (error instanceof UsageError || isForbidden(error)) throw cannotBeWritten(directory, error)
    return undefined
  }
}

export const takeLockOf = (directory: DataDirectory, name: 'service' | 'users', kind: LockKind): Disposable => {
  const lock = takeLock(directory.locks[name], kind)
  if (!lock) throw refusalOf(directory, { code: 'inUse' })
  return lock
}
