import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { failureOf, isMissing, isOutOfSpace, reasonOf, systemCodeOf } from '../../core/system-failures.ts'
import { checkDatabaseBytes, countsOf, type Damaged, neededNow } from '../check/byte-pass.ts'
import { checkStructure } from '../check/database-pass.ts'
import { type BackupMarker, writeBackupMarker } from '../directory/backup-marker.ts'
import {
  type DataDirectory,
  directoryAround,
  flush,
  layoutOf,
  makePrivateFile,
  makePrivateFolder,
  sizeOf,
  writePrivately,
} from '../directory/data-directory.ts'
import { asSentence, UsageError } from '../directory/faults.ts'
import { isFree, takeLock } from '../directory/locks.ts'
import { type OpenDataDirectory, openDataDirectory } from '../directory/open-directory.ts'
import { connect } from '../sqlite/database.ts'
import { value } from '../sqlite/queries.ts'
import { type BackupHold, holdBlobs } from './holds.ts'
import { blobsIn, takeBlobs } from './take-blobs.ts'

const unfinishedName = /\.unfinished-[0-9a-f]{8}$/

const notEmpty = (path: string) => new UsageError(`${path} is not empty. Name a folder that does not exist yet.`)

const admit = (path: string): void => {
  const parent = statSync(dirname(path), { throwIfNoEntry: false })
  if (!parent?.isDirectory())
    throw new UsageError(`There is no folder ${dirname(path)} for the backup. Create it first.`)
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isDirectory()) throw new UsageError(`${path} is not a folder. Name a folder that does not exist yet.`)
  if (readdirSync(path).length > 0) throw notEmpty(path)
  if (found.dev !== parent.dev) {
    throw new UsageError(
      `${path} is the root of a file system. Name a folder inside it that does not exist yet, such as ` +
        `${join(path, 'backup-1')}.`,
    )
  }
}

const clearLeftovers = (folder: string): void => {
  for (const name of readdirSync(folder).filter((each) => unfinishedName.test(each))) {
    const { path, unfinished } = layoutOf(join(folder, name))
    if (existsSync(unfinished) && isFree(unfinished, 'exclusive')) rmSync(path, { recursive: true, force: true })
  }
}

const moveTo = (path: string, unfinished: string): void => {
  try {
    renameSync(unfinished, path)
  } catch (error) {
    const code = systemCodeOf(error)
    throw code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR' ? notEmpty(path) : error
  }
}

/**
 * Writes a backup beside the target folder. A complete backup gets the name of this folder. Errors: UsageError, also
 * when another process has created the folder meanwhile; those of the file system. After an error, nothing of the
 * backup is left.
 */
const openBackupPlace = (given: string) => {
  const path = resolve(given)
  admit(path)
  const around = directoryAround(path)
  if (around !== undefined) throw new UsageError(`${path} is inside ${around}. Name a folder outside it.`)
  clearLeftovers(dirname(path))
  const directory = layoutOf(`${path}.unfinished-${randomBytes(4).toString('hex')}`)
  using made = new DisposableStack()
  made.defer(() => rmSync(directory.path, { recursive: true, force: true }))
  makePrivateFolder(directory.path)
  const lock = made.use(takeLock(directory.unfinished, 'exclusive'))
  if (!lock) throw new UsageError(`${directory.path} is in use by another process. Repeat the command.`)
  makePrivateFolder(directory.blobs)
  const leftovers = made.move()
  return {
    directory,
    path,
    complete(): void {
      using moved = new DisposableStack()
      moveTo(path, directory.path)
      moved.defer(() => rmSync(path, { recursive: true, force: true }))
      flush(dirname(path))
      lock[Symbol.dispose]()
      rmSync(layoutOf(path).unfinished)
      flush(path)
      moved.move()
    },
    [Symbol.dispose]: () => leftovers.dispose(),
  }
}

export interface BackupOptions {
  readonly evenIfDamaged: boolean
  /** If true, compares the bytes of every file with its fingerprint, even of files that are not copied. */
  readonly withBytes: boolean
  readonly signal: AbortSignal
}

// In milliseconds: blobs are held for this long after the last extension of the hold. An extension comes every
// `interval`.
const heldFor = 60_000
const interval = 10_000

// In bytes per millisecond: the slowest pass over the database that is expected. While SQLite copies or checks the
// database, the rest of this process waits.
const slowestPass = 4_000

// If the disk of the data directory prevents the backup, the message must name the data directory, not the folder of
// the backup.
const asFailureOfSource = (error: unknown, { path, database }: DataDirectory): unknown => {
  if (isOutOfSpace(error)) {
    return new UsageError(
      `The disk of the data directory ${path} is full, but a backup needs a little space there, to keep removed files until ` +
        'the backup has copied them. Free some space on that disk. No backup was made.',
      { cause: error },
    )
  }
  if (failureOf(error) !== 'damaged') return error
  return new UsageError(
    `The database ${database} is damaged and cannot be backed up: ${reasonOf(error)}. "site-admin check" lists ` +
      'the damage. Restore an earlier backup with "site-admin restore". No backup was made.',
    { cause: error },
  )
}

const onSource = async <Result>(source: DataDirectory, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    throw asFailureOfSource(error, source)
  }
}

const beginHold = ({ database, directory: { database: file, wal } }: OpenDataDirectory): Promise<BackupHold> =>
  holdBlobs(database, heldFor + Math.ceil((sizeOf(file) + sizeOf(wal)) / slowestPass), Date.now)

// Checks the copy of the database, and removes rows that concern only the backup. Throws UsageError when the database
// is damaged as a whole, and the reason of `signal` when it is aborted.
const readSnapshot = async ({ database: file }: DataDirectory, source: DataDirectory, signal: AbortSignal) => {
  using snapshot = connect(file)
  const [finding] = checkStructure(snapshot, source.database)
  if (finding) throw new UsageError(`The database ${finding.where} cannot be backed up: ${finding.fault}`)
  snapshot.exec('DELETE FROM backups')
  const files = value<number>('SELECT count(blob) FROM objects')(snapshot)() ?? 0
  const damaged = await checkDatabaseBytes(snapshot, source.database, signal)
  return { blobs: blobsIn(snapshot), damaged, files }
}

const copyDemo = ({ demo: from }: DataDirectory, { demo: to }: DataDirectory): void => {
  try {
    writePrivately(to, readFileSync(from, 'utf8'))
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

const damageOf = (damaged: readonly Damaged[]): UsageError => {
  const [first] = damaged
  const count =
    damaged.length === 1 ? 'A file or row is damaged:' : `${damaged.length} files or rows are damaged, such as`
  return new UsageError(
    `${count} ${first?.where}, ${first?.fault}. "site-admin check --bytes" lists the affected files. Repair them, ` +
      'or add --even-if-damaged to back up everything else. No backup was made.',
  )
}

const fill = async (
  directory: DataDirectory,
  opened: OpenDataDirectory,
  hold: BackupHold,
  { evenIfDamaged, withBytes, signal }: BackupOptions,
): Promise<BackupMarker> => {
  const source = opened.directory
  const at = new Date().toISOString()
  makePrivateFile(directory.database)
  await onSource(source, async () => opened.database.connection.prepare('VACUUM INTO ?').run(directory.database))
  await hold.extend()
  const { blobs, files, ...snapshot } = await readSnapshot(directory, source, signal)
  // SQLite does not flush the copy to the disk.
  flush(directory.database)
  const passage = { from: source.blobs, to: directory.blobs, owner: undefined, readsLinked: withBytes }
  const missing = await takeBlobs(passage, blobs, signal)
  if (missing.length > 0 && !(await hold.extend()))
    throw new UsageError('Files were removed before the backup could copy them. Repeat the command.')
  const damaged = [...snapshot.damaged, ...missing]
  if (neededNow(damaged).length > 0 && !evenIfDamaged) throw damageOf(neededNow(damaged))
  copyDemo(source, directory)
  flush(directory.blobs)
  signal.throwIfAborted()
  const bytes = blobs.reduce((sum, { size }) => sum + size, sizeOf(directory.database))
  return writeBackupMarker(directory, { at, files, bytes, ...countsOf(damaged) })
}

/**
 * Backs up a data directory, whether it is in use or not. The backup contains the database as it is at one moment, and
 * every blob that the database refers to at this moment. Blobs that are no longer needed stay until the backup has
 * them. Throws UsageError; then nothing of the backup is left.
 */
export const makeBackup = async (dataDirectory: string, target: string, options: BackupOptions) => {
  const opened = await openDataDirectory(dataDirectory, { role: 'command', reset: false, durable: true })
  try {
    using place = openBackupPlace(target)
    options.signal.throwIfAborted()
    await using hold = await onSource(opened.directory, () => beginHold(opened))
    using _timer = setInterval(() => void hold.extend(), interval)
    const marker = await fill(place.directory, opened, hold, options)
    place.complete()
    return { path: place.path, ...marker }
  } catch (error) {
    throw asSentence(error, `The backup ${resolve(target)}`, 'The incomplete backup was removed.')
  } finally {
    await opened.close()
  }
}
