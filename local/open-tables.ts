import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DataDirectory, lockDataDirectory, openDataDirectory, UsageError } from './data-directory.ts'
import { connectToTables, type EmbeddedTables, openEmbeddedTables } from './embedded-tables.ts'

/** How long a short-lived user of the directory is waited for, in milliseconds. */
const patience = 10_000
const pause = 50

const isServed = async (socket: string): Promise<boolean> => {
  const connection = connect(socket)
  try {
    await once(connection, 'connect')
    return true
  } catch {
    return false
  } finally {
    connection.destroy()
  }
}

const openAlone = async (directory: DataDirectory): Promise<EmbeddedTables | undefined> => {
  const lock = lockDataDirectory(directory)
  if (!lock) return undefined
  // A socket of its own: nobody else should come to rely on a process that ends in a moment.
  const tables = await openEmbeddedTables(directory, directory.commandSocket)
  return {
    documents: tables.documents,
    async close() {
      await tables.close()
      lock.release()
    },
  }
}

/** The tables of a data directory, whether a server runs on it or not. Throws UsageError when it cannot be had. */
export const openTables = async (dataDirectory: string): Promise<EmbeddedTables> => {
  const directory = openDataDirectory(dataDirectory)
  const deadline = Date.now() + patience
  while (Date.now() < deadline) {
    const own = await openAlone(directory)
    if (own) return own
    if (await isServed(directory.socket)) return connectToTables(directory.socket)
    await sleep(pause)
  }
  throw new UsageError(
    `The data directory ${directory.path} is in use by another command. Repeat this one when that has ended.`,
  )
}
