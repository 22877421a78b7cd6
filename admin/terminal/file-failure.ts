/** Why the system does not let a file be read or written, and what to do about it; by its code. */
type Failures = ReadonlyMap<unknown, string>

const ofReading: Failures = new Map([
  ['ENOENT', 'there is no such file. Check its path'],
  ['ENOTDIR', 'there is no such file. Check its path'],
  ['EISDIR', 'it is a directory. Name a file'],
  ['EACCES', 'you are not allowed to. Run this as a user who may read it'],
  ['EPERM', 'you are not allowed to. Run this as a user who may read it'],
])

const ofWriting: Failures = new Map([
  ['ENOENT', 'its folder is not there. Make it first, or name another file'],
  ['ENOTDIR', 'its folder is not there. Make it first, or name another file'],
  ['EISDIR', 'it is a directory. Name a file'],
  ['EACCES', 'you are not allowed to. Name a file in a folder that you may write into'],
  ['EPERM', 'you are not allowed to. Name a file in a folder that you may write into'],
  ['EROFS', 'its file system may only be read. Name a file elsewhere'],
  ['ENOSPC', 'its disk is full. Make room, or name a file elsewhere'],
  ['EDQUOT', 'its disk is full. Make room, or name a file elsewhere'],
])

const reasonIn = (failures: Failures, error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return failures.get('code' in error ? error.code : undefined) ?? error.message
}

/** That a file which a person has named cannot be read, with what to do about it, in a sentence. */
export const cannotBeRead = (file: string, error: unknown): string =>
  `${file} cannot be read: ${reasonIn(ofReading, error)}.`

/** The same of one that cannot be written. */
export const cannotBeWritten = (file: string, error: unknown): string =>
  `${file} cannot be written: ${reasonIn(ofWriting, error)}.`
