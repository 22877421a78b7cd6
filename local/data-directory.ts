import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Something that a person who starts the service can put right; its message is all they need to see. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Where things are in a data directory. */
export interface DataDirectory {
  readonly path: string
  readonly tables: string
  /** The files of the sites. */
  readonly objects: string
  /** The socket of the tables while a server runs; its folder is closed to other users. */
  readonly socket: string
  /** The socket of the tables while a command has the directory for itself. */
  readonly commandSocket: string
  readonly demo: string
}

/** What a Unix socket's path may have, in bytes; the least of the platforms'. */
const longestSocketPath = 103

const layout = (path: string): DataDirectory => ({
  path,
  tables: join(path, 'tables'),
  objects: join(path, 'objects'),
  socket: join(path, 'run', 'tables.sock'),
  commandSocket: join(path, 'run', 'admin.sock'),
  demo: join(path, 'demo.json'),
})

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Makes the directory when it is not there yet. Throws UsageError when it cannot be used. */
export const openDataDirectory = (path: string): DataDirectory => {
  const directory = layout(resolve(path))
  if (Buffer.byteLength(directory.socket) > longestSocketPath) {
    throw new UsageError(
      `The path of the data directory is too long: ${directory.path}. Choose a shorter one with --data-dir.`,
    )
  }
  try {
    mkdirSync(directory.tables, { recursive: true })
    mkdirSync(join(directory.socket, '..'), { recursive: true, mode: 0o700 })
    chmodSync(join(directory.socket, '..'), 0o700)
  } catch (error) {
    throw new UsageError(`The data directory ${directory.path} cannot be written: ${reasonOf(error)}`)
  }
  return directory
}

/**
 * Takes the directory for this process alone, until `release` or the end of the process, however it ends: the lock is the
 * operating system's, held through SQLite, so nothing stale is ever left. Answers undefined when another process has it.
 */
export const lockDataDirectory = (directory: DataDirectory): { release(): void } | undefined => {
  let database: DatabaseSync
  try {
    database = new DatabaseSync(join(directory.path, 'run', 'lock'))
  } catch (error) {
    throw new UsageError(`The data directory ${directory.path} cannot be written: ${reasonOf(error)}`)
  }
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if (reasonOf(error).includes('locked')) return undefined
    throw new UsageError(`The data directory ${directory.path} cannot be written: ${reasonOf(error)}`)
  }
}

/** Removes what the service keeps in the directory, and nothing else. The caller holds the lock. */
export const resetDataDirectory = ({ tables, objects, demo }: DataDirectory): void => {
  rmSync(tables, { recursive: true, force: true })
  rmSync(objects, { recursive: true, force: true })
  rmSync(demo, { force: true })
}
