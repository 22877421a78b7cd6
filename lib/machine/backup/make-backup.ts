import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Clock, systemClock } from '../../core/clock.ts'
import { isMissing } from '../../core/system-failures.ts'
import { type BackupMarker, countsOf, type Damaged, neededNow, writeBackupMarker } from '../check/backup-marker.ts'
import { damageOfContents } from '../check/byte-faults.ts'
import { fatalFaults } from '../check/database-faults.ts'
import type { DataDirectory } from '../directory/data-directory.ts'
import { asFailureOfSource, asSentence, UsageError } from '../directory/failures.ts'
import { makePrivateFile, syncFile, syncFolder, writePrivately } from '../directory/private-files.ts'
import { openMachine } from '../machine.ts'
import { type BackupHold, holdBlobs } from '../objects/backup-holds.ts'
import { connect, type Database } from '../sqlite/database.ts'
import { openBackupPlace } from './backup-place.ts'
import { blobsIn, type ReferredBlob, takeBlobs } from './take-blobs.ts'

export interface BackupOptions {
  readonly evenIfDamaged: boolean
  /** Compares the bytes of every file with its fingerprint, also where none are copied. */
  readonly withBytes: boolean
  readonly signal: AbortSignal
  readonly clock?: Clock
}

export interface Backup extends BackupMarker {
  readonly path: string
}

/** Milliseconds: blobs are held this long after the last sign of life, and there is one every `interval`. */
const heldFor = 60_000
const interval = 10_000

/** Bytes per millisecond, at least. SQLite copies the database while everything else of this process waits. */
const slowestCopy = 4_000

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

const timeToCopy = ({ database, wal }: DataDirectory): number =>
  Math.ceil((sizeOf(database) + sizeOf(wal)) / slowestCopy)

/** SQLite takes the copy no further than to the system: the caller takes it to the disk. */
const copyDatabase = (
  { connection }: Pick<Database, 'connection'>,
  { database: file }: DataDirectory,
  source: DataDirectory,
): void => {
  makePrivateFile(file)
  try {
    connection.prepare('VACUUM INTO ?').run(file)
  } catch (error) {
    throw asFailureOfSource(error, source)
  }
}

const beginHold = async (database: Database, source: DataDirectory, { wall }: Clock): Promise<BackupHold> => {
  try {
    return await holdBlobs(database, heldFor + timeToCopy(source), wall)
  } catch (error) {
    throw asFailureOfSource(error, source)
  }
}

interface Snapshot {
  readonly blobs: readonly ReferredBlob[]
  readonly damaged: readonly Damaged[]
  readonly files: number
}

/**
 * Checks the copy of the database, and removes from it what concerns the backup alone. Throws UsageError when it is
 * damaged as a whole, and the reason of `signal` when that is aborted.
 */
const readSnapshot = async (
  { database: file }: DataDirectory,
  source: DataDirectory,
  signal: AbortSignal,
): Promise<Snapshot> => {
  const snapshot = connect(file)
  try {
    const [fault] = fatalFaults(snapshot, source.database)
    if (fault) throw new UsageError(`The database ${fault.where} cannot be backed up: ${fault.fault}`)
    snapshot.exec('DELETE FROM backups')
    const row = snapshot.prepare('SELECT count(*) AS files FROM objects WHERE blob IS NOT NULL').get()
    const damaged = await damageOfContents(snapshot, source.database, signal)
    return { blobs: blobsIn(snapshot), damaged, files: Number(row?.['files']) }
  } finally {
    snapshot.close()
  }
}

const copyDemo = ({ demo: from }: DataDirectory, { demo: to }: DataDirectory): void => {
  try {
    writePrivately(to, readFileSync(from, 'utf8'))
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

const extendRegularly = (hold: BackupHold) => {
  let isWhole = true
  const extend = async () => {
    // When the database is busy, or full, there is time for another attempt.
    const isHeld = await hold.extend(heldFor).catch(() => true)
    isWhole = isWhole && isHeld
  }
  const timer = setInterval(() => void extend(), interval)
  return {
    extend,
    stop: () => clearInterval(timer),
    hasHeld: () => isWhole,
  }
}

const tookTooLong = () => new UsageError('The backup took so long that files were removed meanwhile. Repeat it.')

const damageOf = (damaged: readonly Damaged[]): UsageError => {
  const [first] = damaged
  const count =
    damaged.length === 1 ? 'A file or row is not whole:' : `${damaged.length} files or rows are not whole, such as`
  return new UsageError(
    `${count} ${first?.where}, ${first?.fault}. "site-admin check --bytes" names what is affected. Put that right, ` +
      'or add --even-if-damaged to back up all that is there. No backup was made.',
  )
}

/**
 * Backs up a data directory, in use or not: the database as it is at one moment, and every blob that it refers to then.
 * Blobs that are given up meanwhile stay until they are in the backup. Throws UsageError; nothing is left behind then.
 */
export const makeBackup = async (dataDirectory: string, target: string, options: BackupOptions): Promise<Backup> => {
  const { evenIfDamaged, withBytes, signal, clock = systemClock } = options
  const { directory: source, database, close } = await openMachine(dataDirectory)
  try {
    const place = openBackupPlace(target, source)
    const { directory } = place
    try {
      signal.throwIfAborted()
      const hold = await beginHold(database, source, clock)
      const extension = extendRegularly(hold)
      try {
        const at = new Date(clock.wall()).toISOString()
        copyDatabase(database, directory, source)
        await extension.extend()
        const { blobs, files, ...snapshot } = await readSnapshot(directory, source, signal)
        syncFile(directory.database)
        const passage = { from: source.blobs, to: directory.blobs, owner: undefined, readsLinked: withBytes }
        const missing = await takeBlobs(passage, blobs, signal)
        if (missing.length > 0 && !extension.hasHeld()) throw tookTooLong()
        const damaged = [...snapshot.damaged, ...missing]
        if (neededNow(damaged).length > 0 && !evenIfDamaged) throw damageOf(neededNow(damaged))
        copyDemo(source, directory)
        syncFolder(directory.blobs)
        signal.throwIfAborted()
        const bytes = blobs.reduce((sum, { size }) => sum + size, statSync(directory.database).size)
        const marker = writeBackupMarker(directory, { at, files, bytes, ...countsOf(damaged) })
        place.complete()
        return { path: place.path, ...marker }
      } finally {
        extension.stop()
        // Should this fail, the hold ends by itself.
        await hold.end().catch(() => {})
      }
    } catch (error) {
      place.abandon()
      throw error
    }
  } catch (error) {
    throw asSentence(error, `The backup ${resolve(target)}`, 'Nothing of it is left.')
  } finally {
    await close()
  }
}
