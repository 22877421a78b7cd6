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

/** Files and folders that other users of the machine cannot read, whatever the umask says. */
const modes = { folder: 0o700, file: 0o600 } as const

/** Makes a folder and those above it that are not there. `mkdir` with `recursive` would never end where nothing can be made, such as in /proc. */
const makeFolder = (path: string): void => {
  const parent = dirname(path)
  if (!existsSync(parent)) makeFolder(parent)
  try {
    mkdirSync(path, { mode: modes.folder })
  } catch (error) {
    // It is there already, or another process has been quicker.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

export const makePrivateFolder = (path: string): void => {
  makeFolder(path)
  chmodSync(path, modes.folder)
}

/**
 * Makes an empty file, unless there is one. It never opens one that is there: closing it again would let go of the locks that this
 * process holds on it (POSIX, fcntl).
 */
export const makePrivateFile = (path: string): void => {
  if (existsSync(path)) return
  try {
    const file = openSync(path, 'ax', modes.file)
    fchmodSync(file, modes.file)
    closeSync(file)
  } catch (error) {
    // Another process has been quicker.
    if (!existsSync(path)) throw error
  }
}

/** Makes the names in a folder durable. */
export const syncFolder = (path: string): void => {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Makes the bytes of a file durable that others have written. */
export const syncFile = (path: string): void => {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** A user and a group of the machine, by their numbers. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Whom a folder belongs to, when root works in it for another user; undefined when there is nobody to whom files would have to be given. */
export const ownerToServe = (folder: string): Owner | undefined => {
  const { uid, gid } = statSync(folder)
  return process.getuid?.() === 0 && (uid !== 0 || gid !== 0) ? { uid, gid } : undefined
}

/** Gives everything in a folder to an owner, and follows no link. */
export const giveAllIn = (folder: string, { uid, gid }: Owner): void => {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    lchownSync(join(entry.parentPath, entry.name), uid, gid)
  }
}

/** Writes a file in one piece, in place of the one that is there: after a crash there is the old one or the new one. */
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
