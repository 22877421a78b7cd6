/** What a person can do about a failure of this machine, by the code that Node gives it. */
const adviceOn: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file or folder',
  EACCES: 'You may not read or write this. Change its permissions, or choose another place',
  EPERM: 'You may not read or write this. Change its permissions, or choose another place',
  EROFS: 'Nothing can be written there. Choose another place',
  EISDIR: 'This is a folder, where a file is needed',
  ENOTDIR: 'This is a file, where a folder is needed',
  ENOSPC: 'The disk is full. Make room, then repeat',
  EEXIST: 'This is there already',
}

/** A failure as one sentence. What this machine refuses is said with the place, and what to do about it. */
export const sentenceOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : ''
  // What something was to be moved to says more than where it lay meanwhile.
  const path = ('dest' in error && error.dest) || ('path' in error ? error.path : undefined)
  const advice = Object.hasOwn(adviceOn, code) ? adviceOn[code] : undefined
  return advice ? `${advice}${typeof path === 'string' ? `: ${path}` : ''}.` : error.message
}
