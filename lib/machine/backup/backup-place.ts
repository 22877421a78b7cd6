import { randomBytes } from 'node:crypto'
import { lstatSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { systemCodeOf } from '../../core/system-failures.ts'
import { directoryAround, layoutOf } from '../directory/data-directory.ts'
import { UsageError } from '../directory/faults.ts'
import { isFree, takeLock } from '../directory/locks.ts'
import { makePrivateFolder, syncFolder } from '../directory/private-files.ts'

const unfinishedName = /\.unfinished-[0-9a-f]{8}$/

const isTaken = (path: string) => new UsageError(`${path} is not empty. Name a folder that does not exist yet.`)

const admit = (path: string): void => {
  const parent = statSync(dirname(path), { throwIfNoEntry: false })
  if (!parent?.isDirectory())
    throw new UsageError(`There is no folder ${dirname(path)} for the backup. Create it first.`)
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isDirectory()) throw new UsageError(`${path} is not a folder. Name a folder that does not exist yet.`)
  if (readdirSync(path).length > 0) throw isTaken(path)
  if (found.dev !== parent.dev) {
    throw new UsageError(
      `${path} is the root of a file system. Name a folder inside it that does not exist yet, such as ` +
        `${join(path, 'backup-1')}.`,
    )
  }
}

const clearLeftovers = (path: string): void => {
  const parent = dirname(path)
  const leftovers = readdirSync(parent).filter(
    (name) => unfinishedName.test(name) && name.replace(unfinishedName, '') === basename(path),
  )
  for (const name of leftovers) {
    const { path: left, unfinished } = layoutOf(join(parent, name))
    if (isFree(unfinished, 'exclusive')) rmSync(left, { recursive: true, force: true })
  }
}

const moveTo = (path: string, unfinished: string): void => {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })) rmdirSync(path)
    renameSync(unfinished, path)
  } catch (error) {
    const code = systemCodeOf(error)
    throw code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR' ? isTaken(path) : error
  }
  syncFolder(dirname(path))
}

/**
 * Writes a backup beside the target folder. A complete backup gets the name of this folder. Errors: UsageError, those
 * of the file system. After an error, nothing of the backup is left.
 */
export const openBackupPlace = (given: string) => {
  const path = resolve(given)
  admit(path)
  const around = directoryAround(path)
  if (around !== undefined) throw new UsageError(`${path} is inside ${around}. Name a folder outside it.`)
  clearLeftovers(path)
  const directory = layoutOf(`${path}.unfinished-${randomBytes(4).toString('hex')}`)
  using made = new DisposableStack()
  made.defer(() => rmSync(directory.path, { recursive: true, force: true }))
  makePrivateFolder(directory.path)
  const lock = made.use(takeLock(directory.unfinished, 'exclusive'))
  makePrivateFolder(directory.blobs)
  const leftovers = made.move()
  return {
    directory,
    path,
    /** Throws UsageError when another process has created the folder meanwhile. */
    complete(): void {
      moveTo(path, directory.path)
      lock?.[Symbol.dispose]()
      rmSync(layoutOf(path).unfinished)
      syncFolder(path)
    },
    [Symbol.dispose]: () => leftovers.dispose(),
  }
}

export type BackupPlace = ReturnType<typeof openBackupPlace>
