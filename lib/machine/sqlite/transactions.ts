import type { DatabaseSync } from 'node:sqlite'
import { isBusy } from '../../core/system-failures.ts'

export interface Job {
  readonly change: () => unknown
  readonly waitsForDisk: boolean
}

type Result = { readonly value: unknown } | { readonly error: unknown }

/**
 * `done` has the results of the first jobs, which ran. `kept out` means that another process has locked the database.
 * `failed` means that no job ran. The first `together` jobs may succeed together. If it is 0, the first job has failed.
 */
export type TransactionOutcome =
  | { readonly outcome: 'done'; readonly results: readonly Result[] }
  | { readonly outcome: 'kept out'; readonly error: unknown }
  | { readonly outcome: 'failed'; readonly error: unknown; readonly together: number }

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

  const runSome = (jobs: readonly Job[], results: Result[]): void => {
    const end = performance.now() + longestTransaction
    for (const job of jobs) {
      results.push(runOne(job))
      if (!connection.isTransaction || performance.now() > end) break
    }
  }

  const rollBack = () => {
    if (connection.isTransaction) connection.exec('ROLLBACK')
  }

  return (jobs: readonly Job[]): TransactionOutcome => {
    try {
      rollBack()
      begin.run()
    } catch (error) {
      return isBusy(error) ? { outcome: 'kept out', error } : { outcome: 'failed', error, together: 0 }
    }
    const results: Result[] = []
    let together: number | undefined
    try {
      runSome(jobs, results)
      together = Math.floor(results.length / 2)
      commit.run()
      return { outcome: 'done', results }
    } catch (error) {
      try {
        rollBack()
      } catch {
        // If this fails, the next transaction tries again before it begins.
      }
      return { outcome: 'failed', error, together: together ?? results.length }
    }
  }
}
