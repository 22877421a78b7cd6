import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { inParallel } from '../../lib/in-parallel.ts'
import { createFingerprint } from '../../lib/storage/fingerprint.ts'
import { areOthers, openBlobVerifier } from '../backup/verify-blobs.ts'
import type { DataDirectory } from '../data-directory.ts'
import { versionOf, versionOfOldObjects } from '../schema.ts'
import type { Fault } from './database-faults.ts'
import { faultOfBytes, type Owner } from './file-faults.ts'

/** From these versions of the tables on they know fingerprints. */
const withFingerprints: readonly (readonly [table: string, version: number])[] = [
  ['objects', 2],
  ['old_objects', versionOfOldObjects],
]

/** How many are worked on at once, so that no core waits for the next one. */
const atOnce = 8

interface Fingerprinted extends Owner {
  readonly blob: string
  readonly size: number
  readonly fingerprint: string
}

/** One object for each content, which copies share: one that is there, where there is one. */
const fingerprinted = (connection: DatabaseSync): readonly Fingerprinted[] => {
  const version = versionOf(connection)
  const tables = withFingerprints.filter(([, since]) => version >= since).map(([table]) => table)
  if (tables.length === 0) return []
  const select = tables
    .map((table) => `SELECT key, blob, size, fingerprint, ${table === 'objects' ? 0 : 1} AS is_earlier FROM ${table}`)
    .join(' UNION ALL ')
  return (
    connection
      // Beside min(), SQLite takes the other columns from the row that has the minimum.
      .prepare(`SELECT key, blob, size, fingerprint, min(is_earlier) AS is_earlier FROM (${select})
      WHERE blob IS NOT NULL AND fingerprint IS NOT NULL GROUP BY blob`)
      .all()
      .map(({ key, blob, size, fingerprint, is_earlier }) => ({
        key: String(key),
        isEarlier: is_earlier === 1,
        blob: String(blob),
        size: Number(size),
        fingerprint: String(fingerprint),
      }))
  )
}

const areTheSame = (bytes: Uint8Array, fingerprint: string): boolean => {
  const making = createFingerprint()
  making.update(bytes)
  return making.digest() === fingerprint
}

/**
 * Files whose bytes are not those that were stored, as far as their fingerprint is known. What is missing or of another size is left to others: it may
 * have been given up since.
 */
export const byteFaults = async (connection: DatabaseSync, { blobs }: DataDirectory): Promise<readonly Fault[]> => {
  const content = connection.prepare('SELECT bytes FROM small_contents WHERE name = ?')
  const faults: Fault[] = []
  const verifier = openBlobVerifier()
  try {
    await inParallel(fingerprinted(connection), atOnce, async ({ key, isEarlier, blob, ...stored }) => {
      const bytes = content.get(blob)?.['bytes']
      const isOther =
        bytes instanceof Uint8Array
          ? !areTheSame(bytes, stored.fingerprint)
          : (await verifier.faultOf(join(blobs, blob), stored)) === areOthers
      if (isOther) faults.push(faultOfBytes({ key, isEarlier }, `${areOthers}: ${blob}`))
    })
  } finally {
    await verifier.close()
  }
  return faults
}
