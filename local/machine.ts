import { existsSync } from 'node:fs'
import { type Clock, systemClock } from '../lib/clock.ts'
import { type DataDirectory, layoutOf, reasonOf } from './data-directory.ts'
import { type Database, type DatabaseOptions, openDatabase } from './database.ts'
import { type Role, useDirectory } from './directory-use.ts'
import { type LocalStores, openStores } from './local-stores.ts'
import { makePrivateFile } from './private-files.ts'
import { prepareSchema } from './schema.ts'
import { UsageError } from './usage-error.ts'

/** Everything of one machine: a data directory, its database, and the ports over it. */
export interface Machine {
  readonly directory: DataDirectory
  readonly database: Database
  readonly stores: LocalStores
  close(): Promise<void>
}

interface Options {
  /** The service makes a directory that is not there, has it to itself but for commands, and puts it in order. */
  readonly role?: Role
  /** Whether everything in the directory is given up first. */
  readonly reset?: boolean
  /** Whether a change waits for the disk; it does unless told otherwise. */
  readonly durable?: boolean
  readonly clock?: Clock
}

const openPrepared = ({ database: file, wal }: DataDirectory, options: DatabaseOptions): Database => {
  // SQLite gives the files beside the database the mode of the database.
  makePrivateFile(file)
  const database = openDatabase(file, options)
  try {
    prepareSchema(database.connection)
    if (existsSync(wal)) return database
    throw new Error(`SQLite has made no ${wal}`)
  } catch (error) {
    database.close()
    throw error
  }
}

const cannotBeOpened = ({ path }: DataDirectory, error: unknown) =>
  new UsageError(`The data directory ${path} cannot be opened: ${reasonOf(error)}`, { cause: error })

/** Opens the data directory at a path. Throws UsageError, with what to do about it, when it cannot be used; nothing in it is changed then. */
export const openMachine = async (path: string, options: Options = {}): Promise<Machine> => {
  const { role = 'command', reset = false, durable = true, clock = systemClock } = options
  const directory = layoutOf(path)
  const use = await useDirectory(directory, { role, reset })
  let database: Database | undefined
  try {
    // Commands may make many changes at once, beside a service whose callers wait.
    database = openPrepared(directory, { durable, givesWay: role === 'command' })
    use.opened()
    const stores = await openStores({ directory, database, role, durable, clock })
    const open = database
    return {
      directory,
      database,
      stores,
      async close() {
        await stores.stop()
        await use.leave(() => open.close())
      },
    }
  } catch (error) {
    await use.leave(() => database?.close())
    throw error instanceof UsageError ? error : cannotBeOpened(directory, error)
  }
}
