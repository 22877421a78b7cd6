import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Milliseconds that a process waits for another process, which may be installing packages. */
const patience = 600_000

/** Runs `work` while no other process runs work with the same lock file. The lock ends with the process. */
export const oneAtATime = <Result>(lock: string, work: () => Result): Result => {
  mkdirSync(dirname(lock), { recursive: true })
  const database = new DatabaseSync(lock, { timeout: patience })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return work()
  } finally {
    database.close()
  }
}
