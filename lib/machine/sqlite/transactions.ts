import type { DatabaseSync } from 'node:sqlite'
import { isBusy } from '../../core/system-failures.ts'

export interface Job {
  readonly change: () => unknown
  readonly waitsForDisk: boolean
}

type Result = { readonly value: unknown } | { readonly error: unknown }

/**
 * `done` has the results of the first jobs, which ran. `kept out` means that another process has locked the database.
 * `failed` means that no job ran.
 */
export type TransactionOutcome =
  | { readonly outcome: 'done'; readonly results: readonly Result[] }
  | { readonly outcome: 'kept out' | 'failed'; readonly error: unknown }

// In milliseconds. At least one job runs.
const longestTransaction = 20

/**
 * A job that throws changes nothing. If it throws before its first change, the other jobs stay. Otherwise all jobs are
 * rolled back. In a savepoint, SQLite would take longer for each statement, the more pages the job has changed before.
 */
export const createTransactions = (connection: DatabaseSync) => {
  const begin = connection.prepare('BEGIN IMMEDIATE')
  const commit = connection.prepare('COMMIT')
  const countChanges = connection.prepare('SELECT total_changes() AS count')

  const runOne = ({ change }: Job): Result => {
    const before = countChanges.get()?.['count']
    try {
      return { value: change() }
    } catch (error) {
      // SQLite may have rolled back the whole transaction, as when the disk is full.
      if (!connection.isTransaction || countChanges.get()?.['count'] !== before) throw error
      return { error }
    }
  }

  const runSome = (jobs: readonly Job[]): readonly Result[] => {
    const results: Result[] = []
    const end = performance.now() + longestTransaction
    for (const job of jobs) {
      results.push(runOne(job))
      if (performance.now() > end) break
    }
    return results
  }

  const rollBack = () => {
    if (connection.isTransaction) connection.exec('ROLLBACK')
  }

  return (jobs: readonly Job[]): TransactionOutcome => {
    try {
      rollBack()
      begin.run()
    } catch (error) {
      return { outcome: isBusy(error) ? 'kept out' : 'failed', error }
    }
    try {
      const results = runSome(jobs)
      commit.run()
      return { outcome: 'done', results }
    } catch (error) {
      try {
        rollBack()
      } catch {
        // If this fails, the next transaction tries again before it begins.
      }
      return { outcome: 'failed', error }
    }
  }
}
