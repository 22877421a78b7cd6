import { type Dirent, lstatSync } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { sentenceOf } from './disk-errors.ts'
import { fingerprintFile } from './fingerprint.ts'
import { type Ignored, isOfState, stateFolder } from './ignored.ts'
import { inParallel } from './in-parallel.ts'
import type { FileState } from './plan.ts'

/** A file of the folder. */
export interface LocalFile extends Remembered {
  /** The local path. Its name may have another Unicode form than the path in the site (NFD). */
  readonly location: string
}

/** Remembered so that the file need not be read again. Times are in milliseconds; no program can set `touched` back. */
export interface Remembered extends FileState {
  readonly modified: number
  readonly touched: number
  readonly inode: number
}

/**
 * Of what `stat` answers. The types of Node are not named, as those of this module are for programs without them too.
 */
interface Info {
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly ino: number
}

/** Shows a change without reading the bytes. */
export const stateOf = ({ size, mtimeMs, ctimeMs, ino }: Info): Omit<Remembered, 'fingerprint'> => ({
  size,
  modified: mtimeMs,
  touched: ctimeMs,
  inode: ino,
})

/** Something that is not sent or not fetched, and why. */
export interface Skipped {
  readonly path: string
  readonly why: string
}

export interface LocalTree {
  readonly files: ReadonlyMap<string, LocalFile>
  readonly skipped: readonly Skipped[]
  /**
   * Files, and folders with all that they hold, that cannot be read, and what the system says: nobody knows what is
   * there.
   */
  readonly unread: readonly { readonly path: string; readonly message: string }[]
  /** Ignored files and folders. */
  readonly ignored: number
}

export interface ScanOptions {
  readonly ignored: Ignored
  readonly remembered: (path: string) => Remembered | undefined
  readonly signal?: AbortSignal | undefined
}

const largestName = 255
const largestPath = 900

// The reason why the service would refuse the path (S-10, S-11, S-12); undefined if it would not.
const faultOf = (path: string): string | undefined => {
  if (/[\p{Cc}\\]/u.test(path)) return 'its name has a control character or a backslash'
  if (Buffer.byteLength(path) > largestPath) return `its path is longer than ${largestPath} bytes`
  if (path.split('/').some((part) => Buffer.byteLength(part) > largestName))
    return `its name is longer than ${largestName} bytes`
  return undefined
}

interface Found {
  readonly path: string
  readonly location: string
}

const gone = 'it went away while it was looked at, or its name is not UTF-8'

// The path leads nowhere.
const missing = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']
// Faults of one file or folder: a missing right, a disk fault, a lock.
const concernsOne = ['EACCES', 'EPERM', 'EIO', 'EBUSY']

// Undefined, with a note, if the file has disappeared or cannot be read.
const readable = async <Result>(
  { skipped, unread }: Pick<Walk, 'skipped' | 'unread'>,
  path: string,
  work: Promise<Result>,
  why = gone,
): Promise<Result | undefined> => {
  try {
    return await work
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (missing.includes(code)) skipped.push({ path, why })
    else if (concernsOne.includes(code)) unread.push({ path, message: sentenceOf(error) })
    else throw error
    return undefined
  }
}

const isInside = (root: string, location: string): boolean => location === root || location.startsWith(root + sep)

/** A walk through a folder, and what it has found. */
interface Walk extends Pick<ScanOptions, 'ignored' | 'signal'> {
  readonly root: string
  readonly found: Found[]
  readonly skipped: Skipped[]
  readonly unread: LocalTree['unread'][number][]
  readonly leftOut: string[]
}

// Ignored paths are counted, except the own state.
const isIgnored = ({ ignored, leftOut }: Walk, path: string): boolean => {
  if (!ignored(path)) return false
  if (!isOfState(path)) leftOut.push(path)
  return true
}

/**
 * Symbolic links are followed inside the folder only, and never in a circle. `above` are the folders that the link lies
 * in.
 */
const follow = async (walk: Walk, path: string, location: string, above: readonly string[]): Promise<void> => {
  const skip = (why: string) => void walk.skipped.push({ path, why })
  const target = await readable(walk, path, realpath(location), 'it is a symbolic link that leads nowhere')
  if (target === undefined) return
  if (!isInside(walk.root, target)) return skip('it is a symbolic link out of the folder')
  if (isOfState(relative(walk.root, target).replaceAll(sep, '/')))
    return skip(`it is a symbolic link to ${stateFolder}, which is never sent`)
  const info = await readable(walk, path, stat(target))
  if (!info) return
  if (!info.isDirectory()) return take(walk, path, target, info)
  if (above.some((each) => isInside(target, each))) return skip('it is a symbolic link to a folder that it lies in')
  await enter(walk, path, target, above)
}

/** Takes a file for one to be sent; what is none has no bytes that could be. */
const take = (walk: Walk, path: string, location: string, info: Pick<Dirent, 'isFile'>): void => {
  if (isIgnored(walk, path)) return
  if (info.isFile()) walk.found.push({ path, location })
  else walk.skipped.push({ path, why: 'it is no file, but a pipe, a socket or a device' })
}

// Empty if the folder has disappeared or cannot be read, unless it is the root.
const entriesOf = async (walk: Walk, path: string, location: string): Promise<readonly Dirent[]> => {
  const reading = readdir(location, { withFileTypes: true })
  return path === '' ? reading : ((await readable(walk, path, reading)) ?? [])
}

/** Goes through a folder. Names are taken in the form that the service keeps (NFC). */
const enter = async (walk: Walk, path: string, location: string, above: readonly string[]): Promise<void> => {
  walk.signal?.throwIfAborted()
  if (path !== '' && isIgnored(walk, `${path}/`)) return
  for (const entry of await entriesOf(walk, path, location)) {
    const below = (path === '' ? entry.name : `${path}/${entry.name}`).normalize('NFC')
    const where = join(location, entry.name)
    if (entry.isDirectory()) await enter(walk, below, where, [...above, where])
    else if (entry.isSymbolicLink()) await follow(walk, below, where, above)
    else take(walk, below, where, entry)
  }
}

/** Reads a file's state, without its bytes when it is as it is remembered. */
const look = async ({ path, location }: Found, { remembered, signal }: ScanOptions): Promise<LocalFile> => {
  const now = stateOf(await stat(location))
  const known = remembered(path)
  const isKnown =
    known?.size === now.size &&
    known.modified === now.modified &&
    known.touched === now.touched &&
    known.inode === now.inode
  return {
    location,
    ...now,
    fingerprint: isKnown ? known.fingerprint : await fingerprintFile(location, now.size, signal),
  }
}

/** The files of a folder. Errors: those of `node:fs`; the reason of the signal. */
export const scan = async (directory: string, options: ScanOptions): Promise<LocalTree> => {
  const root = await realpath(directory)
  const found: Found[] = []
  const skipped: Skipped[] = []
  const unread: Walk['unread'] = []
  const leftOut: string[] = []
  await enter({ ...options, root, found, skipped, unread, leftOut }, '', root, [root])
  const files = new Map<string, LocalFile>()
  const taken = new Map<string, string>()
  const wanted = found.filter(({ path, location }) => {
    const other = taken.get(path)
    const why = faultOf(path) ?? (other && 'another file has the same name, written with other characters')
    if (why) skipped.push({ path, why })
    else taken.set(path, location)
    return !why
  })
  await inParallel(wanted, 16, async (each) => {
    const file = await readable({ skipped, unread }, each.path, look(each, options))
    if (file) files.set(each.path, file)
  })
  return { files, skipped, unread, ignored: leftOut.length }
}

// `touched` also changes with the name and the rights of a file.
type Bytes = Pick<Remembered, 'size' | 'modified' | 'inode'>

export const isSameState = (one: Bytes, other: Bytes): boolean =>
  one.size === other.size && one.modified === other.modified && one.inode === other.inode

/** Synchronous, so that no change comes between this check and the next step. */
export const isUntouched = ({ location, ...before }: Bytes & Pick<LocalFile, 'location'>): boolean => {
  const info = lstatSync(location, { throwIfNoEntry: false })
  return info !== undefined && isSameState(stateOf(info), before)
}
