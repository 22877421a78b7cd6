import { type Dirent, lstatSync } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { inParallel } from '../in-parallel.ts'
import { joinPath } from '../paths.ts'
import { sentenceOf, systemCodeOf } from './disk-errors.ts'
import { fingerprintFile } from './fingerprint.ts'
import { type Ignored, isInStateFolder, stateFolder } from './ignored.ts'
import type { FileState } from './plan.ts'

export interface LocalFile extends Remembered {
  /** The local path. Its Unicode form (NFD) may differ from the form on the site (NFC). */
  readonly location: string
}

/**
 * If these values are unchanged, the file is not read again. Times are in milliseconds. No program can set `touched`
 * back.
 */
export interface Remembered extends FileState {
  readonly modified: number
  readonly touched: number
  readonly inode: number
}

/**
 * The members of `Stats` that this module needs. The types of Node are avoided, because TypeScript programs without
 * them use this module.
 */
interface Info {
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly ino: number
}

export const stateOf = ({ size, mtimeMs, ctimeMs, ino }: Info): Omit<Remembered, 'fingerprint'> => ({
  size,
  modified: mtimeMs,
  touched: ctimeMs,
  inode: ino,
})

export interface Skipped {
  readonly path: string
  readonly why: string
}

export interface LocalTree {
  readonly files: ReadonlyMap<string, LocalFile>
  readonly skipped: readonly Skipped[]
  readonly unreadable: readonly { readonly path: string; readonly message: string }[]
  readonly ignored: number
}

export interface ScanOptions {
  readonly ignored: Ignored
  readonly remembered: (path: string) => Remembered | undefined
  readonly signal?: AbortSignal | undefined
}

const largestName = 255
const largestPath = 900

// The reason why the service would refuse the path (S-10, S-11, S-12).
const faultOf = (path: string): string | undefined => {
  if (/[\p{Cc}\\]/u.test(path)) return 'its name contains a control character or a backslash'
  if (Buffer.byteLength(path) > largestPath) return `its path is longer than ${largestPath} bytes`
  if (path.split('/').some((part) => Buffer.byteLength(part) > largestName))
    return `its name is longer than ${largestName} bytes`
  return undefined
}

interface Found {
  readonly path: string
  readonly location: string
}

const gone = 'it disappeared during the run, or its name is not UTF-8'

const missing = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']
const singleFileFaults = ['EACCES', 'EPERM', 'EIO', 'EBUSY']

const readable = async <Result>(
  { skipped, unreadable }: Pick<Walk, 'skipped' | 'unreadable'>,
  path: string,
  work: Promise<Result>,
  why = gone,
): Promise<Result | undefined> => {
  try {
    return await work
  } catch (error) {
    const code = systemCodeOf(error)
    if (missing.includes(code)) skipped.push({ path, why })
    else if (singleFileFaults.includes(code)) unreadable.push({ path, message: sentenceOf(error) })
    else throw error
    return undefined
  }
}

/** Only the root of a disk, such as `/`, ends with a separator. */
export const isBelow = (root: string, location: string): boolean =>
  location.startsWith(root.endsWith(sep) ? root : root + sep)

const isInside = (root: string, location: string): boolean => location === root || isBelow(root, location)

interface Walk extends Pick<ScanOptions, 'ignored' | 'signal'> {
  readonly root: string
  readonly found: Found[]
  readonly skipped: Skipped[]
  readonly unreadable: LocalTree['unreadable'][number][]
  readonly ignoredPaths: string[]
}

const isIgnored = ({ ignored, ignoredPaths }: Walk, path: string): boolean => {
  if (!ignored(path)) return false
  if (!isInStateFolder(path)) ignoredPaths.push(path)
  return true
}

/** Follows symbolic links only inside the folder, and never in a cycle. `above`: the folders that contain the link. */
const follow = async (walk: Walk, path: string, location: string, above: readonly string[]): Promise<void> => {
  const skip = (why: string) => void walk.skipped.push({ path, why })
  const target = await readable(walk, path, realpath(location), 'it is a symbolic link that leads nowhere')
  if (target === undefined) return
  if (!isInside(walk.root, target)) return skip('it is a symbolic link out of the folder')
  if (isInStateFolder(relative(walk.root, target).replaceAll(sep, '/')))
    return skip(`it is a symbolic link to ${stateFolder}, which is never sent`)
  const info = await readable(walk, path, stat(target))
  if (!info) return
  if (!info.isDirectory()) return take(walk, path, target, info)
  if (above.some((each) => isInside(target, each))) return skip('it is a symbolic link to a folder that contains it')
  await enter(walk, path, target, above)
}

const take = (walk: Walk, path: string, location: string, info: Pick<Dirent, 'isFile'>): void => {
  if (isIgnored(walk, path)) return
  if (info.isFile()) walk.found.push({ path, location })
  else walk.skipped.push({ path, why: 'it is a pipe, a socket or a device' })
}

const entriesOf = async (walk: Walk, path: string, location: string): Promise<readonly Dirent[]> => {
  const reading = readdir(location, { withFileTypes: true })
  return path === '' ? reading : ((await readable(walk, path, reading)) ?? [])
}

/** Names are converted to the Unicode form of the service (NFC). */
const enter = async (walk: Walk, path: string, location: string, above: readonly string[]): Promise<void> => {
  walk.signal?.throwIfAborted()
  if (path !== '' && isIgnored(walk, `${path}/`)) return
  for (const entry of await entriesOf(walk, path, location)) {
    const below = joinPath(path, entry.name).normalize('NFC')
    const where = join(location, entry.name)
    if (entry.isDirectory()) await enter(walk, below, where, [...above, where])
    else if (entry.isSymbolicLink()) await follow(walk, below, where, above)
    else take(walk, below, where, entry)
  }
}

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

export const scan = async (directory: string, options: ScanOptions): Promise<LocalTree> => {
  const root = await realpath(directory)
  const found: Found[] = []
  const skipped: Skipped[] = []
  const unreadable: Walk['unreadable'] = []
  const ignoredPaths: string[] = []
  await enter({ ...options, root, found, skipped, unreadable, ignoredPaths }, '', root, [root])
  const files = new Map<string, LocalFile>()
  const taken = new Map<string, string>()
  const wanted = found.filter(({ path, location }) => {
    const other = taken.get(path)
    const why = faultOf(path) ?? (other && 'another file has the same name in another Unicode form')
    if (why) skipped.push({ path, why })
    else taken.set(path, location)
    return !why
  })
  await inParallel(wanted, 16, async (each) => {
    const file = await readable({ skipped, unreadable }, each.path, look(each, options))
    if (file) files.set(each.path, file)
  })
  return { files, skipped, unreadable, ignored: ignoredPaths.length }
}

// `touched` also changes with the name and the permissions of a file.
type Bytes = Pick<Remembered, 'size' | 'modified' | 'inode'>

export const isSameState = (one: Bytes, other: Bytes): boolean =>
  one.size === other.size && one.modified === other.modified && one.inode === other.inode

/** Synchronous, so that no change comes between this check and the next step. */
export const isUnmodified = ({ location, ...before }: Bytes & Pick<LocalFile, 'location'>): boolean => {
  const info = lstatSync(location, { throwIfNoEntry: false })
  return info !== undefined && isSameState(stateOf(info), before)
}
