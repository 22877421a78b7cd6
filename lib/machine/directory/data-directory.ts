import { existsSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { makePrivateFolder, type Owner, syncFolder, writePrivately } from './private-files.ts'

/** A directory of version 0.1 has no marker (O-17). */
export const layoutVersion = 1

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
  /** The marker of a backup. A backup has the layout of a data directory. */
  readonly backupMarker: string
  /** A lock file in an unfinished backup. The process that makes the backup holds a lock on this file. */
  readonly unfinished: string
  /** Exists while a process has the database open, and after a crash. If it exists, the WAL must exist too. */
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

/** Follows symbolic links, as far as the path exists. */
const realPathOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPathOf(parent), basename(path))
  }
}

const findAround = (path: string): string | undefined => {
  const parent = layoutOf(dirname(path))
  if (parent.path === path) return undefined
  if (existsSync(parent.marker)) return `the data directory ${parent.path}`
  return existsSync(parent.backupMarker) ? `the backup ${parent.path}` : findAround(parent.path)
}

/** O-25: describes the data directory or the backup that a path is in. The path itself need not exist. */
export const directoryAround = (path: string): string | undefined => findAround(realPathOf(resolve(path)))

/** Writes the marker. With an owner, the marker belongs to this owner. */
export const writeMarker = (
  { marker }: DataDirectory,
  state: 'new' | 'half restored' | 'ready',
  owner?: Owner,
): void => {
  const restoring = state === 'half restored' || undefined
  const says = { service: 'site-admin', layout: layoutVersion, ready: state === 'ready', restoring }
  writePrivately(marker, `${JSON.stringify(says)}\n`, owner)
}

export const makeFolders = ({ path, blobs, orphans, locks }: DataDirectory): void => {
  for (const folder of [path, locks.folder, blobs, orphans]) makePrivateFolder(folder)
}

export const makeLocks = ({ path, locks }: DataDirectory): void => {
  if (existsSync(locks.folder)) return
  for (const folder of [path, locks.folder]) makePrivateFolder(folder)
}

/**
 * Removes all files of the service except the marker, which already marks the directory as incomplete. Needs no free
 * space.
 */
export const removeContents = (directory: DataDirectory, isOfVersion01?: boolean): void => {
  const { path, database, wal, blobs, orphans, demo, running } = directory
  const old = ['tables', 'objects', 'run'].map((name) => join(path, name))
  const own = [database, wal, `${database}-shm`, `${database}-journal`, blobs, orphans, `${demo}.new`, running]
  for (const file of [...(isOfVersion01 ? old : own), demo]) rmSync(file, { recursive: true, force: true })
  syncFolder(path)
}
