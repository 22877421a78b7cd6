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
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

// Other users of the machine can read nothing, whatever the umask is (O-12).
const modes = { folder: 0o700, file: 0o600 } as const

const sync = (path: string, flags: string): void => {
  const file = openSync(path, flags)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

export const syncFolder = (path: string): void => sync(path, 'r')
export const syncFile = (path: string): void => sync(path, 'r+')

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
  syncFolder(parent)
}

export const makePrivateFolder = (path: string): void => {
  makeFolder(path)
  chmodSync(path, modes.folder)
}

/**
 * Never opens an existing file: closing the file would release the locks that this process holds on it (POSIX, fcntl).
 */
export const makePrivateFile = (path: string): void => {
  if (existsSync(path)) return
  try {
    const file = openSync(path, 'ax', modes.file)
    fchmodSync(file, modes.file)
    closeSync(file)
  } catch (error) {
    const otherWasFaster = existsSync(path)
    if (!otherWasFaster) throw error
  }
}

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** The owner of a folder, if the owner is a user other than root and this process runs as root. */
export const ownerToServe = (folder: string): Owner | undefined => {
  const { uid, gid } = statSync(folder)
  return process.getuid?.() === 0 && (uid !== 0 || gid !== 0) ? { uid, gid } : undefined
}

/** Everything below the folder then belongs to the owner that `ownerToServe` returns. */
export const giveToOwner = (folder: string): Owner | undefined => {
  const owner = ownerToServe(folder)
  if (!owner) return undefined
  for (const { parentPath, name } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    lchownSync(join(parentPath, name), owner.uid, owner.gid)
  }
  return owner
}

/** Replaces the file in one step: after a crash, either the old file or the new file exists. */
export const writePrivately = (path: string, content: string, owner?: Owner): void => {
  const written = `${path}.new`
  rmSync(written, { force: true })
  const file = openSync(written, 'ax', modes.file)
  try {
    fchmodSync(file, modes.file)
    if (owner) fchownSync(file, owner.uid, owner.gid)
    writeFileSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(written, path)
  syncFolder(dirname(path))
}
