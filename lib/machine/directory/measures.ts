import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../core/system-failures.ts'
import type { Database } from '../sqlite/database.ts'
import { type AnyId, one } from '../sqlite/queries.ts'
import type { DataDirectory } from './data-directory.ts'

const bytesOf = async (file: string): Promise<number> => {
  try {
    return (await stat(file)).size
  } catch (error) {
    if (isMissing(error)) return 0
    throw error
  }
}

const sizeOfFolder = async (folder: string): Promise<number> => {
  let bytes = 0
  for await (const each of await opendir(folder, { recursive: true })) {
    if (each.isFile()) bytes += await bytesOf(join(each.parentPath, each.name))
  }
  return bytes
}

/** Measurements of a data directory for its operator. Sizes are in bytes, moments in epoch milliseconds. */
export const createMeasures = (
  { database: file, wal, blobs }: DataDirectory,
  { connection, read }: Pick<Database, 'connection' | 'read'>,
) => {
  const oldest = one<AnyId>('SELECT min(began) AS id FROM folder_removals WHERE began > 0')(connection)
  const webhooks = one<{ waiting: number; failing: number }>(
    `SELECT count(failing_since) AS failing, count(*) FILTER (
       WHERE EXISTS (SELECT 1 FROM changes WHERE site = webhooks.site AND id > webhooks.position)) AS waiting
     FROM webhooks WHERE enabled = 1`,
  )(connection)
  return {
    databaseBytes: async () => (await bytesOf(file)) + (await bytesOf(wal)),
    /** Reads the names of all blobs. */
    blobBytes: () => sizeOfFolder(blobs),
    /** The moment when the oldest open removal of a folder began. */
    oldestRemoval: async () => (await read(oldest))?.id ?? undefined,
    /** The numbers of enabled webhooks that have new entries, and of enabled webhooks whose last delivery failed. */
    webhooks: async () => (await read(webhooks)) ?? { waiting: 0, failing: 0 },
  }
}

export type Measures = ReturnType<typeof createMeasures>
