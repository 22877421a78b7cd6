import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { isBusy } from '../../core/system-failures.ts'
import { makePrivateFile } from './private-files.ts'

/**
 * A lock of the operating system, held through SQLite: whoever holds it and ends, however it ends, leaves it free. Nothing is ever
 * written to its file.
 */
export interface DirectoryLock {
  /** Harmless when it has been released before. */
  release(): void
}

export type LockKind = 'shared' | 'exclusive'

/** Takes a lock at once, or answers undefined when others hold it. */
export const takeLock = (file: string, kind: LockKind): DirectoryLock | undefined => {
  makePrivateFile(file)
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // A journal on the disk would outlive this process.
    database.exec('PRAGMA journal_mode = MEMORY')
    database.exec(kind === 'exclusive' ? 'BEGIN EXCLUSIVE' : 'BEGIN')
    // A transaction takes its shared lock when it first reads.
    if (kind === 'shared') database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return {
      release() {
        if (database.isOpen) database.close()
      },
    }
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

const interval = 10

/** Takes a lock as soon as it is free, or answers undefined when it is not within `patience` milliseconds. */
export const waitForLock = async (
  file: string,
  kind: LockKind,
  patience: number,
): Promise<DirectoryLock | undefined> => {
  const until = performance.now() + patience
  for (;;) {
    const lock = takeLock(file, kind)
    if (lock || performance.now() > until) return lock
    await pause(interval)
  }
}
