import { chmodSync, constants, copyFileSync, readFileSync } from 'node:fs'
import { reasonOf } from '../../core/system-failures.ts'
import { checkDatabaseBytes, countsOf, neededNow } from '../check/byte-pass.ts'
import { checkStructure } from '../check/database-pass.ts'
import { readBackupMarker } from '../directory/backup-marker.ts'
import { type DataDirectory, flush, layoutOf, ownerToServe, writePrivately } from '../directory/data-directory.ts'
import { inspectDemo } from '../directory/demo-file.ts'
import { asSentence, refusalOf, UsageError } from '../directory/faults.ts'
import { claimEmpty } from '../directory/open-directory.ts'
import { connect, openImmutable } from '../sqlite/database.ts'
import { isEmpty, refusalOfTables } from '../sqlite/schema.ts'
import type { BackupOptions } from './make-backup.ts'
import { blobsIn, takeBlobs } from './take-blobs.ts'

const damaged = ({ path }: DataDirectory, fault: string) =>
  new UsageError(`The backup ${path} is damaged: ${fault}. Name another backup. Nothing was changed.`)

// Reads the database of a backup, and writes no file beside it. Throws UsageError when the database is damaged as a
// whole, or is of another version, and the reason of `signal` when it is aborted.
const readDatabase = async (backup: DataDirectory, signal: AbortSignal) => {
  const { database: file, path } = backup
  try {
    using database = openImmutable(file)
    const refusal = isEmpty(database) ? undefined : refusalOfTables(database)
    if (refusal !== undefined)
      throw new UsageError(`The backup ${path} is of another version. ${refusal} Nothing was changed.`)
    const [finding] = checkStructure(database, file)
    if (finding) throw damaged(backup, `${finding.where}: ${finding.fault.replace(/\.$/, '')}`)
    return { blobs: blobsIn(database), damaged: await checkDatabaseBytes(database, file, signal) }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof UsageError ? error : damaged(backup, `${file}: ${reasonOf(error)}`)
  }
}

/** V-33. Returns the number of webhooks that it disables. */
const disableWebhooks = (file: string): number => {
  using database = connect(file)
  return Number(database.prepare('UPDATE webhooks SET enabled = 0 WHERE enabled = 1').run().changes)
}

const copyFiles = (from: DataDirectory, to: DataDirectory, keepsWebhooks: boolean): number => {
  copyFileSync(from.database, to.database, constants.COPYFILE_EXCL)
  chmodSync(to.database, 0o600)
  const disabledWebhooks = keepsWebhooks ? 0 : disableWebhooks(to.database)
  flush(to.database)
  const demo = inspectDemo(from)
  if (demo && 'code' in demo) throw damaged(from, `${from.demo}: ${demo.detail}`)
  if (demo) writePrivately(to.demo, readFileSync(from.demo, 'utf8'))
  return disabledWebhooks
}

interface RestoreOptions extends Pick<BackupOptions, 'evenIfDamaged' | 'signal'> {
  readonly keepsWebhooks?: boolean
}

/**
 * Fills an empty data directory from a backup. If the process dies meanwhile, no service starts on this directory until
 * a restore succeeds. Throws UsageError; then the state of the directory is the same as before.
 */
export const restoreBackup = async (
  backupPath: string,
  dataDirectory: string,
  { evenIfDamaged, keepsWebhooks = false, signal }: RestoreOptions,
) => {
  const backup = layoutOf(backupPath)
  const marker = readBackupMarker(backup)
  if ('code' in marker) throw refusalOf(backup, marker)
  const { blobs, ...database } = await readDatabase(backup, signal)
  const directory = layoutOf(dataDirectory)
  const claim = await claimEmpty(directory)
  try {
    claim.begin()
    signal.throwIfAborted()
    const disabledWebhooks = copyFiles(backup, directory, keepsWebhooks)
    // All files get this owner. A linked blob of another user would no longer belong to that user, so it is copied.
    const owner = ownerToServe(directory.path) ?? { uid: process.getuid?.() }
    const passage = { from: backup.blobs, to: directory.blobs, owner, readsLinked: true }
    const found = [...database.damaged, ...(await takeBlobs(passage, blobs, signal))]
    const needed = neededNow(found)
    const [first] = needed
    if (first && !evenIfDamaged) {
      throw new UsageError(
        `The backup ${backup.path} is damaged: ${needed.length} of its files or rows are damaged, such as ${first.where}: ` +
          `${first.fault}. Name another backup, or add --even-if-damaged to restore the rest. Nothing was changed.`,
      )
    }
    flush(directory.blobs)
    signal.throwIfAborted()
    claim.fulfil()
    return { path: directory.path, ...marker, ...countsOf(found), disabledWebhooks }
  } catch (error) {
    claim.giveUp()
    const end = claim.wasHalfRestored ? 'No service starts until a restore succeeds.' : 'The directory is still empty.'
    throw asSentence(error, `The data directory ${directory.path}`, end)
  }
}
