import { ServiceError } from '../../core/errors.ts'
import { failureOf, isOfSqlite, reasonOf, type SystemFailure } from '../../core/system-failures.ts'
import { type DataDirectory, layoutVersion } from './data-directory.ts'

/** A fault that a user can correct. The message explains how. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const adviceOnDamage =
  'Restore the directory from a backup, choose another directory with --data-dir, or start with an empty directory ' +
  '(--reset).'

const adviceOnRights =
  'The access rights are wrong: run the command as the user who owns the data directory, give the directory to the user ' +
  'who runs the command (chown -R USER DIRECTORY; chmod -R u+rwX DIRECTORY), or name another directory with --data-dir.'

type Text = (directory: DataDirectory, detail: string) => string

const howToMake =
  '"site-admin serve" or, in a clone, "npm start" creates a data directory. To use another directory, name it with ' +
  '--data-dir.'
const howToReplace = 'Copy this file from a directory that "site-admin restore" has filled'
const nameAnother = 'Name another backup. Nothing was changed.'

const withoutDemo =
  'Restore the file from a backup, or remove it. Without this file, the service does not print the demo token at its start; ' +
  '"site-admin token issue" issues another token.'

export const damagedBy = (detail: string): string => `it is damaged: ${detail}. Restore it from a backup.`

const withoutDatabase =
  (what: string): Text =>
  ({ path, database }) =>
    `The database ${database} is ${what}, but the data directory ${path} was in use before. ${adviceOnDamage} ` +
    'Nothing was changed.'

const withUnreadableDemo =
  (advice: string): Text =>
  ({ demo }, detail) =>
    `The file ${demo} cannot be read: ${detail}. ${advice} Nothing was changed.`

// SQLite needs the -shm to read a WAL, and creates a missing -shm.
const withoutShm: Text = ({ wal }) =>
  `it cannot be read here: its newest changes are in ${wal}, but its -shm file is missing, and this file ` +
  'system is read-only. Copy the data directory to a writable disk (cp -a), and check the copy.'

// Everything that can be wrong with a directory as a whole. Serving, commands, check and restore use these texts.
const refusals = {
  absent: ({ path }) => `There is no directory ${path}. ${howToMake}`,
  empty: ({ path }) => `There is no data in the directory ${path}. ${howToMake}`,
  new: ({ path }) => `There is no data yet in the directory ${path}. ${howToMake}`,
  nested: ({ path }, detail) =>
    `The directory ${path} is inside ${detail}. Choose a directory outside it with --data-dir. Nothing was changed.`,
  ofEarlyVersion: ({ path }) =>
    `The data directory ${path} was made by an early version of the service, before 0.1.0. This version cannot read ` +
    'it. Move the directory away, choose another directory with --data-dir, or discard the old one with --reset.',
  foreign: ({ path, marker }) =>
    `The directory ${path} has files, but no ${marker}: it is not a data directory of this service. Choose ` +
    'another directory with --data-dir.',
  markerMissing: ({ path, marker }) =>
    `The data directory ${path} lacks its ${marker}. ${howToReplace}, or choose another directory ` +
    'with --data-dir. Nothing was changed.',
  markerUnreadable: ({ marker }, detail) =>
    `The file ${marker} cannot be read: ${detail}. ${howToReplace}, choose another directory ` +
    'with --data-dir, or start with an empty directory (--reset). Nothing was changed.',
  otherLayout: ({ path }, detail) =>
    `The data directory ${path} has layout ${detail}, and this version of the service reads layout ` +
    `${layoutVersion}. Start the version that made the directory, choose another directory with --data-dir, or start ` +
    'with an empty directory (--reset). Nothing was changed.',
  halfRestored: ({ path }) =>
    `A restore into the data directory ${path} was interrupted. Repeat "site-admin restore", or start with an ` +
    'empty directory (--reset). Nothing was changed.',
  backup: ({ path }) =>
    `The directory ${path} is a backup. Restore it into an empty data directory: ` +
    `"site-admin restore '${path.replaceAll("'", "'\\''")}' --data-dir DIRECTORY".`,
  unfinishedBackup: ({ path }) => `The directory ${path} is an incomplete backup. Remove it, and make another backup.`,
  unreadable: ({ path }, detail) => `The data directory ${path} cannot be used: ${detail}`,
  notEmpty: ({ path }) =>
    `The data directory ${path} already contains data. Name an empty directory with --data-dir. Nothing was changed.`,
  // Even a reader takes locks, and creates files beside the database.
  onReadOnlyDisk: ({ path }) =>
    `The data directory ${path} is on a read-only file system, but every command except "check" writes locks there. ` +
    'Copy it to a writable disk (cp -a), and name the copy with --data-dir. Nothing was changed.',
  inUse: ({ path }) =>
    `The data directory ${path} is in use by another process. Stop that process, or choose another directory with ` +
    '--data-dir.',
  beingOpened: ({ path }) =>
    `The data directory ${path} is being opened or closed by another process. Repeat the command when that process ` +
    'has ended.',

  databaseMissing: withoutDatabase('missing'),
  databaseEmpty: withoutDatabase('empty'),
  databaseClosed: ({ database }) =>
    `The database ${database} cannot be opened. Check that it is a file, and that you are the user who owns it. ` +
    'Nothing was changed.',
  databaseBusy: ({ database }) =>
    `The database ${database} is in use by another process. Repeat the command when that process has ended. ` +
    'Nothing was changed.',
  databaseDamaged: ({ database }, detail) =>
    `The database ${database} is damaged: ${detail}. ${adviceOnDamage} Nothing was changed.`,
  diskFull: ({ path }) =>
    `The disk of the data directory ${path} is full, but opening it needs some space. Free some space on that disk. ` +
    'Nothing was changed.',
  walMissing: ({ wal, running }) =>
    `The file ${wal} is missing, but the last process left its newest changes only there (${running} exists). ` +
    'Restore the file, or the directory from a backup. If you can do without these changes, ' +
    `remove ${running}. Nothing was changed.`,
  walUnreadable: (directory, detail) =>
    `The database ${directory.database} cannot be used: ${withoutShm(directory, detail)}`,
  demoUnreadable: withUnreadableDemo(withoutDemo),
  demoForbidden: withUnreadableDemo(adviceOnRights),
  demoBegun: (_, detail) =>
    `The id ${detail} belongs to the demo site, which is incomplete. Choose another id with --id, or complete the demo ` +
    'site: start the service once without --no-demo. Nothing was changed.',

  backupAbsent: ({ path }) => `There is no backup ${path}. ${nameAnother}`,
  backupIncomplete: ({ path, backupMarker }) =>
    `${path} is not a complete backup: it has no ${backupMarker}. ${nameAnother}`,
  backupForbidden: ({ path }, detail) =>
    `The backup ${path} cannot be read: ${detail}. The access rights are wrong: run the command as the user who owns ` +
    'the backup. Nothing was changed.',
  backupUnreadable: ({ path }, detail) => `The backup ${path} cannot be read: ${detail}. ${nameAnother}`,
  backupUnclear: ({ path, backupMarker }) =>
    `The backup ${path} is damaged: ${backupMarker} does not describe its contents. ${nameAnother}`,
  backupOfOtherLayout: ({ path }, detail) =>
    `The backup ${path} was made by version ${detail} of this program, which uses another layout. ` +
    'Restore it with that version. Nothing was changed.',
} as const satisfies Readonly<Record<string, Text>>

type FaultCode = keyof typeof refusals

export interface Fault {
  readonly code: FaultCode
  readonly detail?: string
}

// The texts for `check`, where they differ.
const findings: Readonly<Partial<Record<FaultCode, Text>>> = {
  databaseMissing: () => 'it is missing. Restore it from a backup.',
  databaseEmpty: () => 'it is empty. Restore it from a backup.',
  databaseClosed: () => 'it cannot be opened. Check that it is a file and that it belongs to you.',
  databaseBusy: () => 'it is in use by another process. Repeat the command when that process has ended.',
  databaseDamaged: (_, detail) => damagedBy(detail),
  walMissing: () => 'it is missing, and only this file had the newest changes, so they are lost.',
  walUnreadable: withoutShm,
  demoUnreadable: (_, detail) => `it cannot be read: ${detail}. ${withoutDemo}`,
  demoForbidden: (_, detail) => `it cannot be read: ${detail}. ${adviceOnRights}`,
}

export type Purpose = 'serve' | 'reset' | 'command' | 'restore' | 'check'

const allowed: Readonly<Record<Purpose, readonly FaultCode[]>> = {
  serve: ['absent', 'empty', 'new'],
  reset: ['absent', 'empty', 'new', 'ofEarlyVersion', 'markerUnreadable', 'otherLayout', 'halfRestored'],
  command: [],
  restore: ['absent', 'empty', 'new', 'halfRestored'],
  check: ['markerMissing', 'markerUnreadable', 'halfRestored', 'backup'],
}

/**
 * `check` prints a line for each finding: the file or the part of a site that is at fault, what is wrong, and how to
 * correct it.
 */
export interface Finding {
  readonly where: string
  readonly fault: string
}

export const allows = ({ code }: Fault, purpose: Purpose): boolean => allowed[purpose].includes(code)

export const refusalOf = (directory: DataDirectory, { code, detail = '' }: Fault, cause?: unknown): UsageError =>
  new UsageError(refusals[code](directory, detail), { cause })

export const findingOf = (directory: DataDirectory, where: string, { code, detail = '' }: Fault): Finding => {
  const text: Text = findings[code] ?? refusals[code]
  return { where, fault: text(directory, detail) }
}

const elsewhere = 'Name another directory with --data-dir.'

const adviceOn: ReadonlyMap<SystemFailure | undefined, string> = new Map([
  ['noRights', adviceOnRights],
  ['cannotOpen', adviceOnRights],
  ['readOnlyDisk', `Its file system is read-only. ${elsewhere}`],
  ['full', 'Free some space on its disk, and repeat the command.'],
  ['notFolder', `This path, or a parent of this path, is a file. ${elsewhere}`],
  ['exists', `A file has this name. ${elsewhere}`],
  ['missing', `No directory can be created there. ${elsewhere}`],
  ['inputOutput', 'Check its disk, and run "site-admin check" on the data directory.'],
  ['damaged', adviceOnDamage],
])

export const isForbidden = (error: unknown): boolean => failureOf(error) === 'noRights'

export const reasonWithAdvice = (error: unknown): string => {
  const advice = adviceOn.get(failureOf(error))
  return advice === undefined ? reasonOf(error) : `${reasonOf(error)}. ${advice}`
}

export const cannotBeWritten = ({ path }: DataDirectory, error: unknown): UsageError =>
  error instanceof UsageError
    ? error
    : new UsageError(`The data directory ${path} cannot be written: ${reasonWithAdvice(error)}`)

export const databaseFailure = (error: unknown): string | undefined => {
  const failure = failureOf(error)
  const advice = adviceOn.get(failure)
  if (advice === undefined || !isOfSqlite(error)) return undefined
  const what = failure === 'damaged' ? 'The database is damaged' : 'The database cannot be used'
  return `${what}: ${error.message}. ${advice}`
}

/**
 * Turns an error into a UsageError. `what` is the thing that cannot be written, and `ending` says what is left.
 * Programming errors pass unchanged.
 */
export const asSentence = (error: unknown, what: string, ending: string): unknown => {
  if (!(error instanceof Error) || error instanceof UsageError || error instanceof ServiceError) return error
  if (failureOf(error) === 'full') {
    return new UsageError(
      `The disk is full. ${what} needs more space. Free some space, or name another disk. ${ending}`,
      { cause: error },
    )
  }
  if (!('syscall' in error || 'errcode' in error)) return error
  return new UsageError(`${what} cannot be written: ${reasonOf(error)}. ${ending}`, { cause: error })
}
