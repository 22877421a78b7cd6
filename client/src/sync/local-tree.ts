import { type Dirent, lstatSync } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { fingerprintFile } from './fingerprint.ts'
import { type Ignored, isOfState } from './ignored.ts'
import { inParallel } from './in-parallel.ts'
import type { FileState } from './plan.ts'

/** A file of the folder. */
export interface LocalFile extends Remembered {
  /** Where it is on this machine; its name may be written with other characters than its path in the site (NFD). */
  readonly location: string
}

/** What is remembered of a file, so that it need not be read again. Times are in milliseconds; `touched` is one that no program can set back. */
export interface Remembered extends FileState {
  readonly modified: number
  readonly touched: number
  readonly inode: number
}

/** Of what `stat` answers. The types of Node are not named, as those of this module are for programs without them too. */
interface Info {
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly ino: number
}

/** What tells that a file has been changed, without its bytes. */
export const stateOf = ({ size, mtimeMs, ctimeMs, ino }: Info): Omit<Remembered, 'fingerprint'> => ({
  size,
  modified: mtimeMs,
  touched: ctimeMs,
  inode: ino,
})

/** Something in the folder that is not sent, and why. */
interface Skipped {
  readonly path: string
  readonly why: string
}

export interface LocalTree {
  readonly files: ReadonlyMap<string, LocalFile>
  readonly skipped: readonly Skipped[]
  /** How many files and folders were left out as ignored. */
  readonly ignored: number
}

export interface ScanOptions {
  readonly ignored: Ignored
  readonly remembered: (path: string) => Remembered | undefined
  readonly signal?: AbortSignal | undefined
}

const largestName = 255
const largestPath = 900

/** Why the service would refuse a path (functions/storage/README.md); undefined when it would not. */
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

/** What is undefined when the file is not there, which was there a moment ago. */
const orGone = async <Result>(work: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

const isInside = (root: string, location: string): boolean => location === root || location.startsWith(root + sep)

/** A walk through a folder, and what it has found. */
interface Walk extends Pick<ScanOptions, 'ignored' | 'signal'> {
  readonly root: string
  readonly found: Found[]
  readonly skipped: Skipped[]
  readonly leftOut: string[]
}

/** Whether a path is none of anybody's business here, which is counted, but for the own state. */
const isIgnored = ({ ignored, leftOut }: Walk, path: string): boolean => {
  if (!ignored(path)) return false
  if (!isOfState(path)) leftOut.push(path)
  return true
}

/** Symbolic links are followed inside the folder only, and never in a circle. `above` are the folders that the link lies in. */
const follow = async (walk: Walk, path: string, location: string, above: readonly string[]): Promise<void> => {
  const skip = (why: string) => void walk.skipped.push({ path, why })
  const target = await realpath(location).catch(() => undefined)
  if (target === undefined) return skip('it is a symbolic link that leads nowhere')
  if (!isInside(walk.root, target)) return skip('it is a symbolic link out of the folder')
  const info = await orGone(stat(target))
  if (!info) return skip(gone)
  if (info.isFile() && !isIgnored(walk, path)) walk.found.push({ path, location: target })
  if (!info.isDirectory()) return
  if (above.some((each) => isInside(target, each))) return skip('it is a symbolic link to a folder that it lies in')
  await enter(walk, path, target, above)
}

/** What a folder holds: nothing when it went away, unless it is the root. */
const entriesOf = async ({ skipped }: Walk, path: string, location: string): Promise<readonly Dirent[]> => {
  const reading = readdir(location, { withFileTypes: true })
  const entries = path === '' ? await reading : await orGone(reading)
  if (!entries) skipped.push({ path, why: gone })
  return entries ?? []
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
    else if (entry.isFile() && !isIgnored(walk, below)) walk.found.push({ path: below, location: where })
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
  const leftOut: string[] = []
  await enter({ ...options, root, found, skipped, leftOut }, '', root, [root])
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
    const file = await orGone(look(each, options))
    if (file) files.set(each.path, file)
    else skipped.push({ path: each.path, why: gone })
  })
  return { files, skipped, ignored: leftOut.length }
}

/** What the bytes of a file are told by: its other times change with its name and its rights. */
type Bytes = Pick<Remembered, 'size' | 'modified' | 'inode'>

export const isSameState = (one: Bytes, other: Bytes): boolean =>
  one.size === other.size && one.modified === other.modified && one.inode === other.inode

/** Whether a file is still as it was when it was looked at. It does not wait, so that what is done next is done to what was seen. */
export const isUntouched = ({ location, ...before }: Bytes & Pick<LocalFile, 'location'>): boolean => {
  const info = lstatSync(location, { throwIfNoEntry: false })
  return info !== undefined && isSameState(stateOf(info), before)
}
