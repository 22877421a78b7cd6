import { statSync } from 'node:fs'
import { dirname } from 'node:path'

const faults: Readonly<Record<string, readonly [what: string, todo: string]>> = {
  ENOENT: ['This file or folder does not exist', 'Check the path'],
  EACCES: ['You have no permission to read or write this', 'Change its permissions, or choose another place'],
  EPERM: ['You have no permission to read or write this', 'Change its permissions, or choose another place'],
  EROFS: ['This disk is read-only', 'Choose another place'],
  EISDIR: ['This is a folder, but a file is needed', 'Name a file, or move the folder away'],
  ENOTDIR: ['This is a file, but a folder is needed', 'Name a folder, or move the file away'],
  ENOSPC: ['The disk of this machine is full', 'Free some space, then repeat the command'],
  EDQUOT: ['Your quota on this disk is used up', 'Free some space, then repeat the command'],
  EMFILE: ['Too many files are open', 'Raise the limit with "ulimit -n", then repeat the command'],
  EFBIG: ['This file is larger than the disk or a limit of the system allows', 'Choose another place'],
  EXDEV: ['This is not on the same disk as the folder', 'Push or pull it separately'],
  ENAMETOOLONG: ['This name or path is longer than the disk allows', 'Shorten it, or choose another place'],
  EILSEQ: ['The disk refuses the characters of this name', 'Rename the file or folder'],
  EEXIST: ['This already exists', 'Move it away, or choose another place'],
}

export const systemCodeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** Node 20 throws for a path below a file, even without `throwIfNoEntry`. */
const isFile = (path: string): boolean => {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

const fileOn = (path: string): string => {
  for (let place = path; place !== dirname(place); place = dirname(place)) if (isFile(place)) return place
  return path
}

/** A failure as text. The text of a local fault names the path and a remedy. */
export const sentenceOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const code = systemCodeOf(error)
  // Users know the target of a rename, but not its temporary source.
  const given = ('dest' in error && error.dest) || ('path' in error ? error.path : undefined)
  const path = code === 'ENOTDIR' && typeof given === 'string' ? fileOn(given) : given
  const [what, todo] = (Object.hasOwn(faults, code) && faults[code]) || []
  return what ? `${what}${typeof path === 'string' ? `: ${path}` : ''}. ${todo}.` : error.message
}
