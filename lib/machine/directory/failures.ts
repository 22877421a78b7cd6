import { ServiceError } from '../../core/errors.ts'
import { failureOf, isOfSqlite, isOutOfSpace, reasonOf, type SystemFailure } from '../../core/system-failures.ts'

/** A person can put it right; the message is all they need. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const adviceOnDamage =
  'Put the directory back from a backup, choose another one with --data-dir, or begin anew with --reset.'

export const adviceOnRights =
  'Only rights are missing: run this as the user who owns the data directory, give the directory to the user who ' +
  'runs this (chown -R USER DIRECTORY; chmod -R u+rwX DIRECTORY), or name another one with --data-dir.'

const elsewhere = 'Name another directory with --data-dir.'

const adviceOn: ReadonlyMap<SystemFailure | undefined, string> = new Map([
  ['noRights', adviceOnRights],
  ['cannotOpen', adviceOnRights],
  ['readOnlyDisk', `Its file system cannot be written. ${elsewhere}`],
  ['full', 'Make room on its disk, and repeat this.'],
  ['notFolder', `A file is in the way. ${elsewhere}`],
  ['exists', `A file is in the way. ${elsewhere}`],
  ['missing', `No directory can be made there. ${elsewhere}`],
  ['inputOutput', 'Look at its disk, and let "site-admin check" look at the data directory.'],
  ['damaged', adviceOnDamage],
])

export const isForbidden = (error: unknown): boolean => failureOf(error) === 'noRights'

export const reasonWithAdvice = (error: unknown): string => {
  const advice = adviceOn.get(failureOf(error))
  return advice === undefined ? reasonOf(error) : `${reasonOf(error)}. ${advice}`
}

/** Undefined for errors that SQLite did not throw. */
export const databaseFailure = (error: unknown): string | undefined => {
  const failure = failureOf(error)
  const advice = adviceOn.get(failure)
  if (advice === undefined || !isOfSqlite(error)) return undefined
  const what = failure === 'damaged' ? 'The database is damaged' : 'The database cannot be used'
  return `${what}: ${error.message}. ${advice}`
}

interface Source {
  readonly path: string
  readonly database: string
}

/** Blames the data directory, and not the place of the backup, when it is what keeps a backup from being made. */
export const asFailureOfSource = (error: unknown, { path, database }: Source): unknown => {
  if (isOutOfSpace(error)) {
    return new UsageError(
      `The disk of the data directory ${path} is full, and a backup writes a little there, too, to keep files until ` +
        'they are backed up. Make room on that disk. No backup was made.',
      { cause: error },
    )
  }
  if (failureOf(error) !== 'damaged') return error
  return new UsageError(
    `The database ${database} cannot be backed up: it is damaged: ${reasonOf(error)}. "site-admin check" names what ` +
      'is wrong. Put the directory back from an earlier backup by "site-admin restore". No backup was made.',
    { cause: error },
  )
}

/**
 * An error as a UsageError: `what` cannot be written, and `ending` says what is left. A mistake in the program comes
 * through.
 */
export const asSentence = (error: unknown, what: string, ending: string): unknown => {
  if (!(error instanceof Error) || error instanceof UsageError || error instanceof ServiceError) return error
  if (failureOf(error) === 'full') {
    return new UsageError(`The disk is full: ${what} needs more room. Make room, or name another disk. ${ending}`, {
      cause: error,
    })
  }
  if (!('syscall' in error || 'errcode' in error)) return error
  return new UsageError(`${what} cannot be written: ${reasonOf(error)}. ${ending}`, { cause: error })
}
