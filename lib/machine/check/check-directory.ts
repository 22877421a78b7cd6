import { existsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { failureOf, isOfSqlite, reasonOf } from '../../core/system-failures.ts'
import { type DataDirectory, type DirectoryState, layoutOf, refusalOf, stateOf } from '../directory/data-directory.ts'
import { lacksWal } from '../directory/database-damage.ts'
import { adviceOnDemo, inspectDemo } from '../directory/demo-file.ts'
import { hasService, isOnReadOnlyDisk, refusalOfAbsent, whileUnopened } from '../directory/directory-use.ts'
import { UsageError } from '../directory/failures.ts'
import { connect, openImmutable } from '../sqlite/database.ts'
import { type Fault, readBackupMarker } from './backup-marker.ts'
import { byteFaults } from './byte-faults.ts'
import { damagedBy, databaseFaults, type Findings } from './database-faults.ts'
import { type DirectoryUse, fileFaults, namesOfBlobs } from './file-faults.ts'

const checkable: ReadonlySet<DirectoryState['state']> = new Set([
  'ready',
  'backup',
  'half restored',
  'marker missing',
  'marker unreadable',
])

const markerOfBackupFaults = (directory: DataDirectory): Fault[] => {
  try {
    readBackupMarker(directory)
    return []
  } catch (error) {
    return [{ where: directory.backupMarker, fault: reasonOf(error) }]
  }
}

const markerFaults = (directory: DataDirectory, state: DirectoryState): Fault[] => {
  if (state.state === 'ready') return []
  if (state.state === 'backup') return markerOfBackupFaults(directory)
  return [{ where: directory.marker, fault: refusalOf(directory, state) ?? state.state }]
}

const demoFaults = (directory: DataDirectory): Fault[] => {
  const demo = inspectDemo(directory)
  if (demo === undefined || !('fault' in demo)) return []
  return [{ where: directory.demo, fault: `it cannot be read: ${demo.fault}. ${adviceOnDemo(demo)}` }]
}

const modeFaults = ({ path, database, blobs, demo, marker, backupMarker }: DataDirectory): Fault[] =>
  [path, database, blobs, demo, marker, backupMarker].flatMap((file) => {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
    const isOpen = process.platform !== 'win32' && (mode & 0o077) !== 0
    return isOpen ? [{ where: file, fault: 'other users of the machine may use it. Take their rights away.' }] : []
  })

/** Writes nothing beside the file where nothing can be written. */
const openForReading = ({ database, wal }: DataDirectory): DatabaseSync => {
  try {
    const connection = connect(database, { readOnly: true, timeout: 5_000 })
    connection.prepare('SELECT count(*) FROM sqlite_schema').get()
    return connection
  } catch (error) {
    if (existsSync(wal)) throw error
    return openImmutable(database)
  }
}

const closedBy = (directory: DataDirectory): string => {
  const { wal } = directory
  // SQLite reads a WAL by way of the -shm, which it makes anew when it is missing.
  return existsSync(wal) && isOnReadOnlyDisk(directory)
    ? `it cannot be read where it is: its newest changes are in ${wal}, whose -shm file is missing, and this file ` +
        'system is read-only. Copy the data directory to a writable disk (cp -a), and check the copy.'
    : 'it cannot be opened. Check that it is a file and that it belongs to you.'
}

const openDatabase = (directory: DataDirectory): DatabaseSync | Fault => {
  const { database, wal } = directory
  // Without its WAL the database is out of date.
  if (lacksWal(directory)) {
    return { where: wal, fault: 'it is missing, though the service did not end cleanly: the newest changes are lost.' }
  }
  const size = statSync(database, { throwIfNoEntry: false })?.size
  if (size === undefined) return { where: database, fault: 'it is missing. Put it back from a backup.' }
  if (size === 0) return { where: database, fault: 'it is empty. Put it back from a backup.' }
  try {
    return openForReading(directory)
  } catch (error) {
    return {
      where: database,
      fault: failureOf(error) === 'cannotOpen' ? closedBy(directory) : damagedBy(reasonOf(error)),
    }
  }
}

const contentFaults = (connection: DatabaseSync, directory: DataDirectory, use: DirectoryUse): Findings => {
  const before = namesOfBlobs(directory)
  connection.exec('BEGIN')
  const { faults, isReadable } = databaseFaults(connection, directory.database)
  const files = isReadable ? fileFaults(connection, directory, { before, use }) : []
  // Some errors of SQLite have ended it already.
  if (connection.isTransaction) connection.exec('ROLLBACK')
  return { faults: [...faults, ...files], isReadable }
}

/** A fault that comes from a change during the check is gone when it is looked for again. */
const lastingFaults = (connection: DatabaseSync, directory: DataDirectory, use: DirectoryUse): Findings => {
  const first = contentFaults(connection, directory, use)
  if (first.faults.length === 0 || use !== 'served') return first
  const { faults, isReadable } = contentFaults(connection, directory, use)
  const again = new Set(faults.map(({ where, fault }) => `${where} ${fault}`))
  return { faults: first.faults.filter(({ where, fault }) => again.has(`${where} ${fault}`)), isReadable }
}

const bytesNotRead = ({ blobs }: DataDirectory): Fault => ({
  where: blobs,
  fault:
    'the bytes of the files were not read: the database has to tell first what they were. Repeat this when it does.',
})

const faultsOfBytes = async (connection: DatabaseSync, directory: DataDirectory): Promise<readonly Fault[]> => {
  try {
    return await byteFaults(connection, directory)
  } catch (error) {
    if (!isOfSqlite(error)) throw error
    return [{ where: directory.database, fault: damagedBy(reasonOf(error)) }, bytesNotRead(directory)]
  }
}

/** Nobody opens a backup: nothing is written into it, not even a lock. */
const look = async <Result>(directory: DataDirectory, state: DirectoryState, glance: () => Result): Promise<Result> =>
  state.state === 'backup' ? glance() : whileUnopened(directory, glance)

const useOf = (directory: DataDirectory, { state }: DirectoryState): DirectoryUse => {
  if (state === 'backup') return 'backup'
  return hasService(directory) ? 'served' : 'at rest'
}

interface Options {
  readonly withBytes?: boolean
}

/**
 * Every fault of the data directory or the backup at a path, in use or not. Changes nothing. Throws UsageError when
 * there is nothing of this version of the service.
 */
export const checkDirectory = async (path: string, { withBytes = false }: Options = {}): Promise<readonly Fault[]> => {
  const directory = layoutOf(path)
  const state = stateOf(directory)
  if (!checkable.has(state.state))
    throw new UsageError(refusalOf(directory, state) ?? refusalOfAbsent(directory, state) ?? '')
  const { around, use, database } = await look(directory, state, () => ({
    around: [...markerFaults(directory, state), ...modeFaults(directory), ...demoFaults(directory)],
    use: useOf(directory, state),
    database: openDatabase(directory),
  }))
  const unread = withBytes ? [bytesNotRead(directory)] : []
  if ('fault' in database) return [...around, database, ...unread]
  try {
    const { faults, isReadable } = lastingFaults(database, directory, use)
    const bytes = withBytes && isReadable ? await faultsOfBytes(database, directory) : unread
    return [...around, ...faults, ...bytes]
  } finally {
    database.close()
  }
}
