import { setTimeout as pause } from 'node:timers/promises'
import { isBusy } from '../../core/system-failures.ts'
import { connect } from '../sqlite/database.ts'
import { makePrivateFile } from './private-files.ts'

/**
 * A lock of the operating system, held through SQLite: it ends with its process. Nothing is ever written to its file.
 */
export interface DirectoryLock {
  release(): void
}

export type LockKind = 'shared' | 'exclusive'

export const takeLock = (file: string, kind: LockKind): DirectoryLock | undefined => {
  makePrivateFile(file)
  const database = connect(file, { timeout: 0 })
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

/** Answers undefined when others hold it for all these milliseconds. */
export const waitForLock = async (
  file: string,
  kind: LockKind,
  longestWait: number,
): Promise<DirectoryLock | undefined> => {
  const until = performance.now() + longestWait
  for (;;) {
    const lock = takeLock(file, kind)
    if (lock || performance.now() > until) return lock
    await pause(interval)
  }
}
