import { statfsSync } from 'node:fs'
import { ServiceError } from '../lib/errors.ts'

/** SQLite's result codes: the low byte is the primary one, the rest says more (https://sqlite.org/rescode.html). */
const codes = { busy: 5, inputOutput: 10, full: 13, cannotOpen: 14 } as const

const codeOf = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0

/** Whether another process has the database. Nothing was changed, and trying again helps. */
export const isBusy = (error: unknown): boolean => codeOf(error) === codes.busy

/** With less than this, in bytes, a file system has no room for a page and what goes with it. */
const leastRoom = 256 * 1024

const isDiskFull = (file: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(file)
    return bavail * bsize < leastRoom
  } catch {
    return false
  }
}

/**
 * What the callers of a port are told of an error of SQLite. Some writes, such as those to the shared memory beside the database, fail on
 * a full disk with an error of input and output that does not tell why: the disk itself is asked then. A database that is there, but cannot be
 * opened again, is one for which there are no file handles left. Whatever else it is, a damaged database for one, comes through.
 */
export const asPortError = (error: unknown, file: string): unknown => {
  const code = codeOf(error)
  if (code === codes.busy || code === codes.cannotOpen) return new ServiceError('unavailable', { cause: error })
  if (code === codes.full || (code === codes.inputOutput && isDiskFull(file))) {
    return new ServiceError('outOfSpace', { cause: error })
  }
  return error
}
