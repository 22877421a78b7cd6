import type { DatabaseSync } from 'node:sqlite'

export interface Job {
  /** Answers the function that reports success. */
  readonly change: () => () => void
  readonly fail: (error: unknown) => void
  readonly waitsForDisk: boolean
}

/**
 * Done: `tell` reports each of the jobs that had their turn, from the first one on. Kept out: by another process.
 * Failed: none of the jobs is done.
 */
export type Ending =
  | { readonly outcome: 'done'; readonly tell: readonly (() => void)[] }
  | { readonly outcome: 'kept out' | 'failed'; readonly error: unknown }

/** Milliseconds; at least one job runs. */
const longestTransaction = 20

/** Runs each job in a savepoint of its own, so that one that throws changes nothing and the others stay. */
export const openTransactions = (connection: DatabaseSync, isBusy: (error: unknown) => boolean) => {
  const begin = connection.prepare('BEGIN IMMEDIATE')
  const commit = connection.prepare('COMMIT')
  const mark = connection.prepare('SAVEPOINT change')
  const backToMark = connection.prepare('ROLLBACK TO change')
  const release = connection.prepare('RELEASE change')

  /**
   * Answers false when SQLite has rolled back the whole transaction, as it may when the disk is full: the others are
   * undone then too.
   */
  const undo = (): boolean => {
    try {
      if (connection.isTransaction) {
        backToMark.run()
        release.run()
      }
    } catch {
      // Report the first error.
      return false
    }
    return connection.isTransaction
  }

  const runOne = ({ change, fail }: Job): (() => void) => {
    mark.run()
    try {
      const tellDone = change()
      release.run()
      return tellDone
    } catch (error) {
      if (!undo()) throw error
      return () => fail(error)
    }
  }

  const runSome = (jobs: readonly Job[]): (() => void)[] => {
    const tell: (() => void)[] = []
    const end = performance.now() + longestTransaction
    for (const job of jobs) {
      tell.push(runOne(job))
      if (performance.now() > end) break
    }
    return tell
  }

  /** An error of a second rollback would hide the reason. */
  const rollBack = () => {
    if (connection.isTransaction) connection.exec('ROLLBACK')
  }

  return (jobs: readonly Job[]): Ending => {
    try {
      rollBack()
      begin.run()
    } catch (error) {
      return { outcome: isBusy(error) ? 'kept out' : 'failed', error }
    }
    try {
      const tell = runSome(jobs)
      commit.run()
      return { outcome: 'done', tell }
    } catch (error) {
      try {
        rollBack()
      } catch {
        // The next transaction tries again before it begins.
      }
      return { outcome: 'failed', error }
    }
  }
}
