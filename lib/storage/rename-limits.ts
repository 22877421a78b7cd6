import { ServiceError } from '../errors.ts'

/**
 * A folder with more than this in it is not renamed: all of it becomes visible under the new name at once, or nothing does, and nobody
 * waits for that any longer. It is a bound on memory, too.
 */
export const mostObjects = 10_000

/** What is kept of the time for taking everything back: as long as so many deletions in S3 take, to be sure. In milliseconds. */
export const timeToUndo = 8_000

export const tooMuchToRename = (): ServiceError =>
  new ServiceError('storageRefused', {
    message: 'The folder holds too much to be renamed in one go. Upload it under its new name, then delete this one.',
  })
