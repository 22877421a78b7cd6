import { ServiceError } from '../../core/errors.ts'
import { type DataDirectory, reasonOf } from '../directory/data-directory.ts'
import { UsageError } from '../directory/usage-error.ts'
import { isDamage, isOutOfSpace } from '../sqlite/database.ts'

const outOfSpace: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT'])

/** SQLite's own result code for a disk that has no room (https://sqlite.org/rescode.html). */
const sqliteFull = 13

const isFull = (error: Error): boolean =>
  ('code' in error && outOfSpace.has(error.code)) ||
  ('errcode' in error && (Number(error.errcode) & 0xff) === sqliteFull)

/** Whether an error comes from the operating system or from SQLite, and not from a mistake in the program. */
const isFromOutside = (error: Error): boolean => 'syscall' in error || 'errcode' in error

/**
 * What a person is told when the data directory itself keeps a backup of it from being made, as an error: else its place would be blamed. Other
 * errors come through.
 */
export const asFailureOfSource = (error: unknown, { path, database }: DataDirectory): unknown => {
  if (isOutOfSpace(error)) {
    return new UsageError(
      `There is no room on the disk of the data directory ${path}: a backup writes a little there, too, so that no file goes before it is backed up. Make room on that disk. No backup was made.`,
      { cause: error },
    )
  }
  if (!isDamage(error)) return error
  return new UsageError(
    `The database ${database} cannot be backed up: it is damaged: ${reasonOf(error)}. "site-admin check" names what is wrong. Put the directory back from an earlier backup by "site-admin restore". No backup was made.`,
    { cause: error },
  )
}

/** What a person is told who makes or restores a backup, as an error; `what` cannot be written, and `ending` says what is left. */
export const asSentence = (error: unknown, what: string, ending: string): unknown => {
  if (!(error instanceof Error) || error instanceof UsageError || error instanceof ServiceError) return error
  if (isFull(error)) {
    return new UsageError(`There is no room for it: ${what} needs more. Make room, or name another disk. ${ending}`, {
      cause: error,
    })
  }
  if (!isFromOutside(error)) return error
  return new UsageError(`${what} cannot be written: ${reasonOf(error)}. ${ending}`, { cause: error })
}
