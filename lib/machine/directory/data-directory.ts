import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

// Other users of the machine can read nothing, whatever the umask is (O-12).
const modes = { folder: 0o700, file: 0o600 } as const

/** Flushes a file, or the names in a folder, to the disk. */
export const flush = (path: string): void => {
  using opened = new DisposableStack()
  fsyncSync(opened.adopt(openSync(path, 'r'), closeSync))
}

// Also creates missing parents. The names of all of them survive a power cut (O-20). In folders such as /proc, `mkdir`
// with `recursive` would never end.
const makeFolder = (path: string): void => {
  const parent = dirname(path)
  if (!existsSync(parent)) makeFolder(parent)
  try {
    mkdirSync(path, { mode: modes.folder })
  } catch (error) {
    // The folder exists already, or another process was faster.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
    return
  }
  flush(parent)
}

export const makePrivateFolder = (path: string): void => {
  makeFolder(path)
  chmodSync(path, modes.folder)
}

/** The owner of a folder, if the owner is a user other than root and this process runs as root. */
export const ownerToServe = (folder: string) => {
  const { uid, gid } = statSync(folder)
  return process.getuid?.() === 0 && (uid !== 0 || gid !== 0) ? { uid, gid } : undefined
}

type Owner = NonNullable<ReturnType<typeof ownerToServe>>

/** Everything below the folder then belongs to the owner that `ownerToServe` returns. */
export const giveToOwner = (folder: string): Owner | undefined => {
  const owner = ownerToServe(folder)
  if (!owner) return undefined
  for (const { parentPath, name } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    lchownSync(join(parentPath, name), owner.uid, owner.gid)
  }
  return owner
}

const createPrivately = (path: string, content: string, owner?: Owner): void => {
  const file = openSync(path, 'ax', modes.file)
  try {
    fchmodSync(file, modes.file)
    if (owner) fchownSync(file, owner.uid, owner.gid)
    writeFileSync(file, content)
  } finally {
    closeSync(file)
  }
}

/**
 * Never opens an existing file: closing the file would release the locks that this process holds on it (POSIX, fcntl).
 */
export const makePrivateFile = (path: string): void => {
  try {
    if (!existsSync(path)) createPrivately(path, '')
  } catch (error) {
    const otherWasFaster = existsSync(path)
    if (!otherWasFaster) throw error
  }
}

/** Replaces the file in one step: after a crash, either the old file or the new file exists. */
export const writePrivately = (path: string, content: string, owner?: Owner): void => {
  const written = `${path}.new`
  rmSync(written, { force: true })
  createPrivately(written, content, owner)
  flush(written)
  renameSync(written, path)
  flush(dirname(path))
}

export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** A directory of a version before 0.1.0 has no marker (O-17). */
export const layoutVersion = 1

/** Paths in a data directory (O-9, O-10). A backup has the same layout. */
export const layoutOf = (given: string) => {
  const path = resolve(given)
  const folder = join(path, 'locks')
  return {
    path,
    marker: join(path, 'site-admin.json'),
    database: join(path, 'site-admin.db'),
    wal: join(path, 'site-admin.db-wal'),
    blobs: join(path, 'blobs'),
    orphans: join(path, 'orphans'),
    demo: join(path, 'demo.json'),
    backupMarker: join(path, 'site-admin-backup.json'),
    /** A lock file in an unfinished backup. The process that makes the backup holds a lock on this file. */
    unfinished: join(path, 'unfinished'),
    /** Exists while a process has the database open, or has left changes in the WAL. Then the WAL must exist too. */
    running: join(path, 'running'),
    locks: { folder, gate: join(folder, 'gate'), users: join(folder, 'users'), service: join(folder, 'service') },
  } as const
}

export type DataDirectory = ReturnType<typeof layoutOf>

const realPathOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPathOf(parent), basename(path))
  }
}

const findAround = (path: string): string | undefined => {
  const parent = layoutOf(dirname(path))
  if (parent.path === path) return undefined
  if (existsSync(parent.marker)) return `the data directory ${parent.path}`
  return existsSync(parent.backupMarker) ? `the backup ${parent.path}` : findAround(parent.path)
}

/** O-25: describes the data directory or the backup that a path is in. The path itself need not exist. */
export const directoryAround = (path: string): string | undefined => findAround(realPathOf(resolve(path)))

export const writeMarker = (
  { marker }: DataDirectory,
  state: 'new' | 'half restored' | 'ready',
  owner?: Owner,
): void => {
  const restoring = state === 'half restored' || undefined
  const says = { service: 'site-admin', layout: layoutVersion, ready: state === 'ready', restoring }
  writePrivately(marker, `${JSON.stringify(says)}\n`, owner)
}

export const makeFolders = ({ path, blobs, orphans, locks }: DataDirectory): void => {
  for (const folder of [path, locks.folder, blobs, orphans]) makePrivateFolder(folder)
}

export const makeLocks = ({ path, locks }: DataDirectory): void => {
  if (existsSync(locks.folder)) return
  for (const folder of [path, locks.folder]) makePrivateFolder(folder)
}

/**
 * Removes all files of the service except the marker, which already marks the directory as incomplete. Needs no free
 * space.
 */
export const removeContents = (directory: DataDirectory, isOfEarlyVersion?: boolean): void => {
  const { path, database, wal, blobs, orphans, demo, running } = directory
  const old = ['tables', 'objects', 'run'].map((name) => join(path, name))
  const own = [database, wal, `${database}-shm`, `${database}-journal`, blobs, orphans, `${demo}.new`, running]
  for (const file of [...(isOfEarlyVersion ? old : own), demo]) rmSync(file, { recursive: true, force: true })
  flush(path)
}
