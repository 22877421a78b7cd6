import { statfsSync } from 'node:fs'
import { errors, ServiceError } from './errors.ts'

const ofSystem = {
  ENOENT: 'missing',
  ENOTDIR: 'notFolder',
  EISDIR: 'isFolder',
  EEXIST: 'exists',
  EACCES: 'noRights',
  EPERM: 'noRights',
  EROFS: 'readOnlyDisk',
  ENOSPC: 'full',
  EDQUOT: 'full',
  EMFILE: 'noHandles',
  ENFILE: 'noHandles',
  ERR_INVALID_PACKAGE_CONFIG: 'noHandles',
} as const

// Failures by the low byte of the result code. The other bytes only give details (https://sqlite.org/rescode.html).
const ofSqlite = {
  3: 'noRights',
  5: 'busy',
  8: 'noRights',
  10: 'inputOutput',
  11: 'damaged',
  13: 'full',
  14: 'cannotOpen',
  26: 'damaged',
} as const

type ValueOf<Values> = Values[keyof Values]
export type SystemFailure = ValueOf<typeof ofSystem> | ValueOf<typeof ofSqlite>

const systemFailures: ReadonlyMap<unknown, SystemFailure> = new Map(Object.entries(ofSystem))
const sqliteFailures: ReadonlyMap<string, SystemFailure> = new Map(Object.entries(ofSqlite))

export const systemCodeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined

export const isOfSqlite = (error: unknown): error is Error & { readonly errcode: unknown } =>
  error instanceof Error && 'errcode' in error

export const failureOf = (error: unknown): SystemFailure | undefined =>
  isOfSqlite(error) ? sqliteFailures.get(String(Number(error.errcode) & 0xff)) : systemFailures.get(systemCodeOf(error))

export const isMissing = (error: unknown): boolean => failureOf(error) === 'missing'

export const isBusy = (error: unknown): boolean => failureOf(error) === 'busy'

const sqliteIoErrFsync = 1034

export const isFailedFlush = (error: unknown): boolean => isOfSqlite(error) && error.errcode === sqliteIoErrFsync

export const isOutOfSpace = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === errors.outOfSpace.code

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const leastRoom = 256 * 1024

export const isDiskFull = (file: string): boolean => {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(file)
    return bavail * bsize < leastRoom || (files > 0 && ffree === 0)
  } catch {
    return false
  }
}

/**
 * Turns temporary failures into the errors outOfSpace and unavailable. Returns every other error unchanged. On a full
 * disk some writes, such as those to the shared memory of a database, fail with an input/output error that names no
 * cause. The function then checks the disk of `file`. If an existing database cannot be opened again, the process has
 * no free file handle.
 */
export const asPortError = (error: unknown, file: string): unknown => {
  const failure = failureOf(error)
  if (failure === 'full' || (failure === 'inputOutput' && isDiskFull(file))) {
    return new ServiceError('outOfSpace', { cause: error })
  }
  if (failure === 'busy' || failure === 'cannotOpen' || failure === 'noHandles') {
    return new ServiceError('unavailable', { cause: error })
  }
  return error
}
