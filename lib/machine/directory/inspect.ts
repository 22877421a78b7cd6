import { accessSync, constants, existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { asPortError, failureOf, isBusy, isMissing, isOutOfSpace, reasonOf } from '../../core/system-failures.ts'
import { connect, type Database, openImmutable } from '../sqlite/database.ts'
import { one, value } from '../sqlite/queries.ts'
import { isEmpty } from '../sqlite/schema.ts'
import { type DataDirectory, directoryAround, layoutVersion, sizeOf } from './data-directory.ts'
import { allows, type Fault, isForbidden, type Purpose, reasonWithAdvice, refusalOf } from './faults.ts'

const mostInSmallFile = 64 * 1024

/**
 * Finds a file that the service did not create: a link, a pipe (reading it would never end), or a file that is far too
 * large. The directory may come from an attacker.
 */
export const foreignFileIn = ({ marker, backupMarker, demo, database, wal }: DataDirectory): string | undefined => {
  const small = [marker, backupMarker, demo]
  for (const file of [...small, database, wal, `${database}-shm`, `${database}-journal`]) {
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (found?.isSymbolicLink()) return `${file} is a symbolic link`
    if (found && !found.isFile() && !found.isDirectory()) return `${file} is neither a file nor a folder`
    if (found && small.includes(file) && found.size > mostInSmallFile) return `${file} is too large`
  }
  return undefined
}

const firstNames: ReadonlySet<string> = new Set(['locks', 'site-admin.json.new'])

const inspectNames = ({ path }: DataDirectory, names: readonly string[]): Fault => {
  if (names.every((name) => firstNames.has(name))) return { code: 'empty' }
  if (names.includes('site-admin-backup.json')) return { code: 'backup' }
  if (names.includes('unfinished')) return { code: 'unfinishedBackup' }
  if (names.includes('site-admin.db')) return { code: 'markerMissing' }
  const isOfOld = ['objects/index.db', 'run/lock'].some((file) => existsSync(join(path, file)))
  return { code: names.includes('tables') && isOfOld ? 'ofEarlyVersion' : 'foreign' }
}

const inspectMarker = (file: string): Fault | undefined => {
  try {
    const marker: { layout?: unknown; ready?: unknown; restoring?: unknown } = JSON.parse(readFileSync(file, 'utf8'))
    const { layout, ready, restoring } = { ...marker }
    if (typeof layout !== 'number' || typeof ready !== 'boolean') {
      return { code: 'markerUnreadable', detail: 'it lacks "layout" or "ready"' }
    }
    if (layout !== layoutVersion) return { code: 'otherLayout', detail: String(layout) }
    if (ready) return undefined
    return { code: restoring ? 'halfRestored' : 'new' }
  } catch (error) {
    // If the service only lacks the right to read the directory, the data may be intact. So the message does not advise
    // to discard the data.
    if (isForbidden(error)) throw error
    return { code: 'markerUnreadable', detail: reasonOf(error) }
  }
}

const inspectItself = (directory: DataDirectory): Fault | undefined => {
  try {
    const names = readdirSync(directory.path)
    const stranger = foreignFileIn(directory)
    if (stranger !== undefined) {
      return { code: 'unreadable', detail: `${stranger}. Replace it with the real file, or with a copy from a backup.` }
    }
    return existsSync(directory.marker) ? inspectMarker(directory.marker) : inspectNames(directory, names)
  } catch (error) {
    return isMissing(error) ? { code: 'absent' } : { code: 'unreadable', detail: reasonWithAdvice(error) }
  }
}

/** Judges a directory by the names in it, by its marker and by the folders above it. Changes nothing. */
export const inspect = (directory: DataDirectory): Fault | undefined => {
  const fault = inspectItself(directory)
  const around = fault?.code === 'absent' || fault?.code === 'empty' ? directoryAround(directory.path) : undefined
  return around === undefined ? fault : { code: 'nested', detail: around }
}

/** Returns a fault that does not matter for the purpose. Throws UsageError for any other fault. */
export const admit = (directory: DataDirectory, purpose: Purpose): Fault | undefined => {
  const fault = inspect(directory)
  if (fault && !allows(fault, purpose)) throw refusalOf(directory, fault)
  return fault
}

export const isOnReadOnlyDisk = ({ path }: DataDirectory): boolean => {
  try {
    accessSync(path, constants.W_OK)
    return false
  } catch (error) {
    return failureOf(error) === 'readOnlyDisk'
  }
}

const faultOfDatabase = (directory: DataDirectory, error: unknown): Fault => {
  if (isBusy(error)) return { code: 'databaseBusy' }
  if (isOutOfSpace(asPortError(error, directory.path))) return { code: 'diskFull' }
  if (failureOf(error) !== 'cannotOpen') return { code: 'databaseDamaged', detail: reasonOf(error) }
  return { code: existsSync(directory.wal) && isOnReadOnlyDisk(directory) ? 'walUnreadable' : 'databaseClosed' }
}

const inspectFiles = ({ database, wal, running }: DataDirectory): Fault | undefined => {
  const size = statSync(database, { throwIfNoEntry: false })?.size
  if (size === undefined) return { code: 'databaseMissing' }
  if (size === 0) return { code: 'databaseEmpty' }
  // True if the database was not closed cleanly. Without its WAL, the database would be out of date.
  return existsSync(running) && !existsSync(wal) ? { code: 'walMissing' } : undefined
}

// In milliseconds: for this time, a killed process may still have the database open.
const waits = { alone: 1_000, beside: 5_000 } as const

// For a reader `alone`, no other process opens the database meanwhile. For a reader `beside`, other processes may open
// it.
type Reader = keyof typeof waits

const connectToRead = ({ database, wal }: DataDirectory, reader: Reader): DatabaseSync => {
  if (reader === 'alone' && !existsSync(wal)) return openImmutable(database)
  const connection = connect(database, { readOnly: true, timeout: waits[reader] })
  try {
    isEmpty(connection)
    return connection
  } catch (error) {
    connection.close()
    // The fallback ignores a WAL, so with a WAL it would show an old state of the data.
    if (existsSync(wal)) throw error
    return openImmutable(database)
  }
}

/** Opens the database read-only. On a read-only file system, creates no file beside the database. */
export const openReadOnly = (directory: DataDirectory, reader: Reader): DatabaseSync | Fault => {
  const fault = inspectFiles(directory)
  if (fault) return fault
  try {
    return connectToRead(directory, reader)
  } catch (error) {
    return faultOfDatabase(directory, error)
  }
}

// In bytes: a database of this size takes about a second at every start. Only `check` reads a larger database
// completely.
const largestChecked = 256 * 1024 ** 2

/** Judges the database: all of its pages, or only whether it can be read. No other process may use the directory. */
export const inspectDatabase = (directory: DataDirectory, depth: 'surface' | 'pages'): Fault | undefined => {
  const opened = openReadOnly(directory, 'alone')
  if ('code' in opened) return opened
  using connection = opened
  try {
    if (isEmpty(connection)) return { code: 'databaseDamaged', detail: 'it is empty' }
    const isLarge = statSync(directory.database).size > largestChecked
    if (depth === 'surface' || isLarge) return undefined
    const answer = value<string>('PRAGMA quick_check(1)')(connection)()
    return answer === 'ok' ? undefined : { code: 'databaseDamaged', detail: `${answer}`.replaceAll(/\s+/g, ' ') }
  } catch (error) {
    return faultOfDatabase(directory, error)
  }
}

/** Undefined when the database cannot be read. No other process may use the directory. */
export const countContents = (directory: DataDirectory) => {
  if (inspectDatabase(directory, 'pages')) return undefined
  try {
    using connection = connectToRead(directory, 'alone')
    return one<{ sites: number; files: number }>(
      'SELECT (SELECT count(*) FROM sites) AS sites, count(blob) AS files FROM objects',
    )(connection)()
  } catch {
    return undefined
  }
}

/** Measurements of a data directory for its operator. Sizes are in bytes, moments in epoch milliseconds. */
export const createMeasures = (
  { database: file, wal, blobs }: DataDirectory,
  { connection, read }: Pick<Database, 'connection' | 'read'>,
) => {
  const oldest = value<number | null>('SELECT min(began) FROM folder_removals WHERE began > 0')(connection)
  const webhooks = one<{ waiting: number; failing: number; failingSince: number | null }>(
    `SELECT count(failing_since) AS failing, min(failing_since) AS failingSince,
       count(*) FILTER (WHERE 1000 * (unixepoch() - 60) > (
         SELECT at FROM changes WHERE site = webhooks.site AND id > webhooks.position ORDER BY id LIMIT 1)) AS waiting
     FROM webhooks WHERE enabled = 1`,
  )(connection)
  return {
    databaseBytes: async () => sizeOf(file) + sizeOf(wal),
    async blobBytes() {
      let bytes = 0
      for await (const each of await opendir(blobs, { recursive: true })) {
        if (each.isFile()) bytes += sizeOf(join(each.parentPath, each.name))
      }
      return bytes
    },
    oldestRemoval: async () => (await read(oldest)) ?? undefined,
    /** The enabled webhooks with an entry that has waited for a minute, and those whose last delivery failed. */
    webhooks: async () => (await read(webhooks)) ?? { waiting: 0, failing: 0, failingSince: null },
  }
}
