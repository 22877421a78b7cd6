import { type Dirent, existsSync, lstatSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { isMissing, reasonOf } from '../../core/system-failures.ts'
import { takeLock } from './directory-locks.ts'
import { isForbidden, reasonWithAdvice, UsageError } from './failures.ts'
import { makePrivateFolder, type Owner, syncFolder, writePrivately } from './private-files.ts'

/** Paths in a data directory (O-9, O-10). */
export interface DataDirectory {
  readonly path: string
  readonly marker: string
  readonly database: string
  /** Changes that are not in the database file yet. */
  readonly wal: string
  readonly blobs: string
  readonly orphans: string
  readonly demo: string
  /** In a backup, which has the same layout, in place of the marker. */
  readonly backupMarker: string
  /** In an unfinished backup: its maker holds a lock on it. */
  readonly unfinished: string
  /** There while anybody has the database open, and after a crash: then its WAL must be there, too. */
  readonly running: string
  readonly locks: { readonly folder: string; readonly gate: string; readonly users: string; readonly service: string }
}

export const layoutOf = (given: string): DataDirectory => {
  const path = resolve(given)
  const folder = join(path, 'locks')
  return {
    path,
    marker: join(path, 'site-admin.json'),
    database: join(path, 'site-admin.db'),
    wal: join(path, 'site-admin.db-wal'),
    blobs: join(path, 'blobs'),
    orphans: join(path, 'orphans'),
    demo: join(path, 'demo.json'),
    backupMarker: join(path, 'site-admin-backup.json'),
    unfinished: join(path, 'unfinished'),
    running: join(path, 'running'),
    locks: { folder, gate: join(folder, 'gate'), users: join(folder, 'users'), service: join(folder, 'service') },
  }
}

/** Follows symbolic links on the way to the file. Errors: those of the file system. */
export const liesIn = ({ path }: DataDirectory, file: string): boolean =>
  join(realpathSync(dirname(file)), basename(file)).startsWith(`${realpathSync(path)}${sep}`)

/** A directory of version 0.1 has no marker (O-17). */
export const layoutVersion = 1

export type DirectoryState =
  | { readonly state: 'absent' | 'empty' | 'new' | 'ready' | 'version 0.1' | 'foreign' | 'marker missing' }
  | { readonly state: 'half restored' | 'backup' | 'unfinished backup' }
  | { readonly state: 'marker unreadable'; readonly reason: string }
  | { readonly state: 'other layout'; readonly layout: number }
  | { readonly state: 'unreadable'; readonly reason: string }

const readMarker = (file: string): DirectoryState | undefined => {
  try {
    const marker: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const { layout, ready, restoring } = {
      layout: undefined,
      ready: undefined,
      restoring: false,
      ...(marker as object),
    }
    if (typeof layout !== 'number' || typeof ready !== 'boolean') {
      return { state: 'marker unreadable', reason: 'it does not hold a layout and whether it is ready' }
    }
    if (layout !== layoutVersion) return { state: 'other layout', layout }
    if (ready) return { state: 'ready' }
    return { state: restoring ? 'half restored' : 'new' }
  } catch (error) {
    if (isMissing(error)) return undefined
    // With the rights to read it, it may be as good as ever: that is no reason to give the directory up.
    if (isForbidden(error)) return { state: 'unreadable', reason: reasonWithAdvice(error) }
    return { state: 'marker unreadable', reason: reasonOf(error) }
  }
}

const firstNames: ReadonlySet<string> = new Set(['locks', 'site-admin.json.new'])

const stateWithoutMarker = (directory: DataDirectory, entries: readonly Dirent[]): DirectoryState => {
  const names = new Set(entries.map(({ name }) => name))
  if ([...names].every((name) => firstNames.has(name))) return { state: 'empty' }
  if (names.has('site-admin-backup.json')) return { state: 'backup' }
  if (names.has('unfinished')) return { state: 'unfinished backup' }
  if (names.has('site-admin.db')) return { state: 'marker missing' }
  const isOfOld = ['objects/index.db', 'run/lock'].some((file) => existsSync(join(directory.path, file)))
  return { state: names.has('tables') && isOfOld ? 'version 0.1' : 'foreign' }
}

/** Bytes. */
const mostInSmallFile = 64 * 1024

/**
 * Finds a file that is none of the service: a link, which leads elsewhere, a pipe, which is never read to its end, or a
 * file that is far too large.
 * A directory may come from anywhere.
 */
export const foreignFileIn = ({ marker, backupMarker, demo, database, wal }: DataDirectory): string | undefined => {
  const small = [marker, backupMarker, demo]
  for (const file of [...small, database, wal, `${database}-shm`, `${database}-journal`]) {
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (found?.isSymbolicLink()) return `${file} is a symbolic link`
    if (found && !found.isFile() && !found.isDirectory()) return `${file} is neither a file nor a folder`
    if (found && small.includes(file) && found.size > mostInSmallFile) return `${file} is too large for what it is`
  }
  return undefined
}

export const stateOf = (directory: DataDirectory): DirectoryState => {
  try {
    const entries = readdirSync(directory.path, { withFileTypes: true })
    const stranger = foreignFileIn(directory)
    if (stranger !== undefined)
      return { state: 'unreadable', reason: `${stranger}. Put the real file there, or one from a backup.` }
    return readMarker(directory.marker) ?? stateWithoutMarker(directory, entries)
  } catch (error) {
    return isMissing(error) ? { state: 'absent' } : { state: 'unreadable', reason: reasonWithAdvice(error) }
  }
}

export const cannotBeWritten = ({ path }: DataDirectory, error: unknown): UsageError =>
  new UsageError(`The data directory ${path} cannot be written: ${reasonWithAdvice(error)}`)

/** The sentence that refuses a directory in that state; undefined when it can be used. */
export const refusalOf = ({ path, marker }: DataDirectory, state: DirectoryState): string | undefined => {
  switch (state.state) {
    case 'version 0.1':
      return (
        `The data directory ${path} was made by version 0.1 of the service, whose files this version does not read. ` +
        'Move it away, choose another one with --data-dir, or give it up with --reset.'
      )
    case 'foreign':
      return (
        `The directory ${path} has files, but no ${marker}: it is not a data directory of this service. Choose ` +
        'another one with --data-dir.'
      )
    case 'marker missing':
      return (
        `The data directory ${path} has lost its ${marker}. Put that file back from a backup, or choose another ` +
        'directory with --data-dir. Nothing was changed.'
      )
    case 'marker unreadable':
      return (
        `The file ${marker} cannot be read: ${state.reason}. Put it back from a backup, choose another directory ` +
        'with --data-dir, or begin anew with --reset. Nothing was changed.'
      )
    case 'other layout':
      return (
        `The data directory ${path} has layout ${state.layout}, and this version of the service reads layout ` +
        `${layoutVersion}. Start the version that made it, choose another one with --data-dir, or begin anew with ` +
        '--reset. Nothing was changed.'
      )
    case 'half restored':
      return (
        `A restore into the data directory ${path} broke off. Repeat "site-admin restore", or begin anew with ` +
        '--reset. Nothing was changed.'
      )
    case 'backup':
      return (
        `The directory ${path} is a backup. "site-admin restore ${path}" fills an empty data directory from it, ` +
        'which --data-dir names.'
      )
    case 'unfinished backup':
      return `The directory ${path} is a part of a backup that broke off. Remove it, and make another backup.`
    case 'unreadable':
      return `The data directory ${path} cannot be used: ${state.reason}`
    default:
      return undefined
  }
}

export const isResettable = ({ state }: DirectoryState): boolean =>
  ['new', 'ready', 'version 0.1', 'half restored', 'marker unreadable', 'other layout'].includes(state)

/** The marker belongs to the owner, when there is one to give it to. */
export const writeMarker = (
  { marker }: DataDirectory,
  state: 'new' | 'half restored' | 'ready',
  owner?: Owner,
): void => {
  const says = {
    layout: layoutVersion,
    ready: state === 'ready',
    ...(state === 'half restored' && { restoring: true }),
  }
  writePrivately(marker, `${JSON.stringify({ service: 'site-admin', ...says })}\n`, owner)
}

export const makeFolders = ({ path, blobs, orphans, locks }: DataDirectory): void => {
  for (const folder of [path, locks.folder, blobs, orphans]) makePrivateFolder(folder)
}

export const makeLocks = ({ path, locks }: DataDirectory): void => {
  if (existsSync(locks.folder)) return
  for (const folder of [path, locks.folder]) makePrivateFolder(folder)
}

const oldNames = ['tables', 'objects', 'run', 'demo.json']

export const isUsedByOldService = ({ path }: DataDirectory): boolean => {
  const file = join(path, 'run', 'lock')
  if (!existsSync(file)) return false
  const lock = takeLock(file, 'exclusive')
  lock?.release()
  return !lock
}

const removeFrom = (path: string, names: readonly string[]): void => {
  for (const name of names) rmSync(name, { recursive: true, force: true })
  syncFolder(path)
}

/**
 * Removes everything of the service but the marker, which already says that the directory is not whole. Needs no room
 * on the disk.
 */
export const removeContents = ({ path, database, wal, blobs, orphans, demo, running }: DataDirectory): void =>
  removeFrom(path, [database, wal, `${database}-shm`, blobs, orphans, demo, `${demo}.new`, running])

/**
 * Removes everything of the service, and nothing else. If it is cut short, the marker already says what to repeat:
 * `next`. The caller holds every lock.
 */
export const clearDirectory = (directory: DataDirectory, next: 'new' | 'half restored'): void => {
  const isOld = stateOf(directory).state === 'version 0.1'
  writeMarker(directory, next)
  const { path } = directory
  const old = oldNames.map((name) => join(path, name))
  if (isOld) removeFrom(path, old)
  else removeContents(directory)
}
