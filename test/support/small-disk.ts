import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** The reason why a small disk cannot be mounted here. Undefined if it can. */
export const noSmallDisk: string | undefined =
  process.platform === 'linux' && process.getuid?.() === 0
    ? undefined
    : 'only root can mount a file system, and the tests can do so only on Linux'

const piece = Buffer.alloc(4096)

const writeUntilFull = (file: string): void => {
  const descriptor = openSync(file, 'w')
  try {
    for (;;) writeSync(descriptor, piece)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  } finally {
    closeSync(descriptor)
  }
}

/** Mounts a file system of this many megabytes in a folder. Returns undefined if mounting is not allowed. */
export const mountSmallDisk = (path: string, megabytes: number) => {
  mkdirSync(path)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,nr_inodes=4k`, 'tmpfs', path], { stdio: 'pipe' })
  } catch {
    return undefined
  }
  const filler = join(path, 'filler')
  return {
    path,
    /** Fills the disk except for the given number of bytes, in pieces of 4096. */
    fill(left = 0) {
      writeUntilFull(filler)
      truncateSync(filler, statSync(filler).size - left)
    },
    makeRoom: () => rmSync(filler),
    /** Makes the disk read-only, even for root. */
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', path]),
    unmount: () => void execFileSync('umount', [path]),
  }
}
