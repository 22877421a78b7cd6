import { sqliteCodeOf, sqliteCodes } from '../sqlite/database.ts'

/** Where to go from a data directory that is damaged. */
export const beyondRepair =
  'Put the directory back from a backup, choose another one with --data-dir, or begin anew with --reset.'

/** What helps a user who is not allowed to use what is there. */
export const missingRights =
  'Only rights are missing: run this as the user who owns the data directory, give the directory to the user who runs this (chown -R USER DIRECTORY; chmod -R u+rwX DIRECTORY), or name another one with --data-dir.'
const room = 'Make room on its disk, and repeat this.'
const elsewhere = 'Name another directory with --data-dir.'

/** By the code of the system. */
const ofSystem: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', missingRights],
  ['EPERM', missingRights],
  ['EROFS', `Its file system cannot be written. ${elsewhere}`],
  ['ENOSPC', room],
  ['EDQUOT', room],
  ['ENOTDIR', `Something that is no directory is in the way. ${elsewhere}`],
  ['EEXIST', `Something that is no directory is in the way. ${elsewhere}`],
  ['ENOENT', `No directory can be made there. ${elsewhere}`],
])

const ofSqlite: ReadonlyMap<number, string> = new Map([
  [sqliteCodes.noRights, missingRights],
  [sqliteCodes.readOnly, missingRights],
  [sqliteCodes.cannotOpen, missingRights],
  [sqliteCodes.inputOutput, 'Look at its disk, and let "site-admin check" look at the data directory.'],
  [sqliteCodes.damaged, beyondRepair],
  [sqliteCodes.full, room],
  [sqliteCodes.noDatabase, beyondRepair],
])

const systemCodeOf = (error: unknown): unknown =>
  error instanceof Error && 'syscall' in error && 'code' in error ? error.code : undefined

/** Whether the system does not let the user who runs this use a file. It says nothing of what is in the file. */
export const isForbidden = (error: unknown): boolean => ofSystem.get(systemCodeOf(error)) === missingRights

/** Whether the file system of a file can only be read, whatever rights there are. */
export const isReadOnlyDisk = (error: unknown): boolean => systemCodeOf(error) === 'EROFS'

/** What can be done about an error that the system or SQLite has thrown for a data directory; undefined for any other error. */
const adviceOnFailure = (error: unknown): string | undefined =>
  ofSystem.get(systemCodeOf(error)) ?? ofSqlite.get(sqliteCodeOf(error))

/** Why something failed, and what can be done about it where that is known. */
export const reasonWithAdvice = (error: unknown): string => {
  const reason = error instanceof Error ? error.message : String(error)
  const advice = adviceOnFailure(error)
  return advice === undefined ? reason : `${reason}. ${advice}`
}

/** What became of the database that a command works on, when SQLite has thrown the error; undefined when that is a fault of the program. */
export const databaseFailure = (error: unknown): string | undefined => {
  const advice = ofSqlite.get(sqliteCodeOf(error))
  if (advice === undefined || !(error instanceof Error)) return undefined
  const what = advice === beyondRepair ? 'The database is damaged' : 'The database cannot be used'
  return `${what}: ${error.message}. ${advice}`
}
