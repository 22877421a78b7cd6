import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isOfSqlite, reasonOf } from '../../core/system-failures.ts'
import { readBackupMarker } from '../directory/backup-marker.ts'
import { type DataDirectory, layoutOf } from '../directory/data-directory.ts'
import { inspectDemo } from '../directory/demo-file.ts'
import { damagedBy, type Fault, type Finding, findingOf, reasonWithAdvice } from '../directory/faults.ts'
import { admit, openReadOnly } from '../directory/inspect.ts'
import { hasService, tryToTakeGate } from '../directory/locks.ts'
import { checkBytes } from './byte-pass.ts'
import { checkDatabase, type Findings } from './database-pass.ts'
import { type CheckedUse, checkFiles, namesOfBlobs } from './file-pass.ts'

const isOpenToOthers = (file: string): boolean => {
  try {
    return ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0
  } catch {
    return false
  }
}

const checkModes = ({ path, database, blobs, demo, marker, backupMarker }: DataDirectory): Finding[] =>
  [path, database, blobs, demo, marker, backupMarker]
    .filter(isOpenToOthers)
    .map((where) => ({ where, fault: 'other users of the machine have access to it. Remove their rights.' }))

const lookAround = async (directory: DataDirectory, fault: Fault | undefined) => {
  const isBackup = fault?.code === 'backup'
  // No process opens a backup as a database, so nothing is written into a backup, not even a lock.
  using _gate = isBackup ? undefined : await tryToTakeGate(directory)
  const marker = isBackup ? readBackupMarker(directory) : fault
  const markerFile = isBackup ? directory.backupMarker : directory.marker
  const demo = inspectDemo(directory)
  const use: CheckedUse = isBackup ? 'backup' : hasService(directory) ? 'served' : 'at rest'
  return {
    findings: [
      ...(marker && 'code' in marker ? [findingOf(directory, markerFile, marker)] : []),
      ...checkModes(directory),
      ...(demo && 'code' in demo ? [findingOf(directory, directory.demo, demo)] : []),
    ],
    use,
    database: openReadOnly(directory, 'beside'),
  }
}

const tryToCheckFiles = (...given: Parameters<typeof checkFiles>): readonly Finding[] => {
  const { blobs } = given[1]
  try {
    // Reports a folder whose mode `checkModes` could not read, even if every content is in the database.
    statSync(blobs, { throwIfNoEntry: false })
    return checkFiles(...given)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    return [{ where: blobs, fault: `it cannot be read: ${reasonWithAdvice(error)}` }]
  }
}

const checkContents = (connection: DatabaseSync, directory: DataDirectory, use: CheckedUse): Findings => {
  const before = namesOfBlobs(directory)
  connection.exec('BEGIN')
  const { findings, isReadable } = checkDatabase(connection, directory.database)
  const files = isReadable ? tryToCheckFiles(connection, directory, { before, use }) : []
  // Some errors of SQLite end the transaction.
  if (connection.isTransaction) connection.exec('ROLLBACK')
  return { findings: [...findings, ...files], isReadable }
}

// The second pass drops faults that a change during the first pass has caused.
const checkLasting = (connection: DatabaseSync, directory: DataDirectory, use: CheckedUse): Findings => {
  const first = checkContents(connection, directory, use)
  if (first.findings.length === 0 || use !== 'served') return first
  const { findings, isReadable } = checkContents(connection, directory, use)
  const again = new Set(findings.map(({ where, fault }) => `${where} ${fault}`))
  return { findings: first.findings.filter(({ where, fault }) => again.has(`${where} ${fault}`)), isReadable }
}

const bytesNotRead = ({ blobs }: DataDirectory): Finding => ({
  where: blobs,
  fault:
    'the bytes of the files were not compared, because their fingerprints are in the damaged database. Repair the ' +
    'database, then repeat.',
})

const tryToCheckBytes = async (connection: DatabaseSync, directory: DataDirectory): Promise<readonly Finding[]> => {
  try {
    return await checkBytes(connection, directory)
  } catch (error) {
    if (!isOfSqlite(error)) throw error
    return [{ where: directory.database, fault: damagedBy(reasonOf(error)) }, bytesNotRead(directory)]
  }
}

/**
 * Returns every fault of the data directory or the backup at a path, whether it is in use or not. Changes nothing.
 * Throws UsageError if the path has no data of this version of the service.
 */
export const checkDataDirectory = async (
  path: string,
  { withBytes }: { readonly withBytes?: boolean } = {},
): Promise<readonly Finding[]> => {
  const directory = layoutOf(path)
  const { findings, use, database } = await lookAround(directory, admit(directory, 'check'))
  const unread = withBytes ? [bytesNotRead(directory)] : []
  if ('code' in database) {
    const where = database.code === 'walMissing' ? directory.wal : directory.database
    const isBusy = database.code === 'databaseBusy'
    return [...findings, findingOf(directory, where, database), ...(isBusy ? [] : unread)]
  }
  using connection = database
  const contents = checkLasting(connection, directory, use)
  const bytes = withBytes && contents.isReadable ? await tryToCheckBytes(connection, directory) : unread
  return [...findings, ...contents.findings, ...bytes]
}
