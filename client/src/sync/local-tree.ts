import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { fingerprintFile } from './fingerprint.ts'
import type { Ignored } from './ignored.ts'
import { inParallel } from './in-parallel.ts'
import type { FileState, Fingerprint } from './plan.ts'

/** A file of the folder. */
export interface LocalFile extends FileState {
  /** Where it is on this machine; its name may be written with other characters than its path in the site (NFD). */
  readonly location: string
  readonly modified: number
  readonly inode: number
}

/** What is remembered of a file, so that it need not be read again. */
export interface Remembered {
  readonly size: number
  readonly modified: number
  readonly inode: number
  readonly fingerprint: Fingerprint
}

/** Something in the folder that is not sent, and why. */
interface Skipped {
  readonly path: string
  readonly why: string
}

export interface LocalTree {
  readonly files: ReadonlyMap<string, LocalFile>
  readonly skipped: readonly Skipped[]
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

const isInside = (root: string, location: string): boolean => location === root || location.startsWith(root + sep)

/** A walk through a folder, and what it has found. */
interface Walk extends Pick<ScanOptions, 'ignored' | 'signal'> {
  readonly root: string
  readonly found: Found[]
  readonly skipped: Skipped[]
}

/** Symbolic links are followed inside the folder only, and never in a circle. `above` are the folders that the link lies in. */
const follow = async (walk: Walk, path: string, location: string, above: readonly string[]): Promise<void> => {
  const skip = (why: string) => void walk.skipped.push({ path, why })
  const target = await realpath(location).catch(() => undefined)
  if (target === undefined) return skip('it is a symbolic link that leads nowhere')
  if (!isInside(walk.root, target)) return skip('it is a symbolic link out of the folder')
  const info = await stat(target)
  if (info.isFile() && !walk.ignored(path)) walk.found.push({ path, location: target })
  if (!info.isDirectory()) return
  if (above.some((each) => isInside(target, each))) return skip('it is a symbolic link to a folder that it lies in')
  await enter(walk, path, target, above)
}

/** Goes through a folder. Names are taken in the form that the service keeps (NFC). */
const enter = async (walk: Walk, path: string, location: string, above: readonly string[]): Promise<void> => {
  walk.signal?.throwIfAborted()
  if (path !== '' && walk.ignored(`${path}/`)) return
  for (const entry of await readdir(location, { withFileTypes: true })) {
    const below = (path === '' ? entry.name : `${path}/${entry.name}`).normalize('NFC')
    const where = join(location, entry.name)
    if (entry.isDirectory()) await enter(walk, below, where, [...above, where])
    else if (entry.isSymbolicLink()) await follow(walk, below, where, above)
    else if (entry.isFile() && !walk.ignored(below)) walk.found.push({ path: below, location: where })
  }
}

/** Reads a file's state, without its bytes when it is as it is remembered. */
const look = async ({ path, location }: Found, { remembered, signal }: ScanOptions): Promise<LocalFile> => {
  const { size, mtimeMs: modified, ino: inode } = await stat(location)
  const known = remembered(path)
  const isKnown = known?.size === size && known.modified === modified && known.inode === inode
  return {
    location,
    size,
    modified,
    inode,
    fingerprint: isKnown ? known.fingerprint : await fingerprintFile(location, signal),
  }
}

/** The files of a folder. Errors: those of `node:fs`; the reason of the signal. */
export const scan = async (directory: string, options: ScanOptions): Promise<LocalTree> => {
  const root = await realpath(directory)
  const found: Found[] = []
  const skipped: Skipped[] = []
  await enter({ ...options, root, found, skipped }, '', root, [root])
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
    files.set(each.path, await look(each, options))
  })
  return { files, skipped }
}

/** Whether a file is still as it was when it was looked at. */
export const isUntouched = async ({ location, size, modified, inode }: LocalFile): Promise<boolean> => {
  const now = await lstat(location).catch(() => undefined)
  return now !== undefined && now.size === size && now.mtimeMs === modified && now.ino === inode
}
