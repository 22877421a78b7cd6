import type { DatabaseSync } from 'node:sqlite'
import { inParallel } from '../../core/in-parallel.ts'
import type { DataDirectory } from '../directory/data-directory.ts'
import { pathOfBlob } from '../objects/blobs.ts'
import { everyObject } from '../sqlite/tables.ts'
import type { Fault } from './database-faults.ts'
import { faultOfBytes, type Owner } from './file-faults.ts'
import { damagedContents } from './small-contents.ts'
import { areOthers, openBlobVerifier } from './verify-blobs.ts'

/** How many are worked on at once, so that no core waits for the next one. */
const atOnce = 8

interface Fingerprinted extends Owner {
  readonly blob: string
  readonly size: number
  readonly fingerprint: string
}

/** One object for each blob, which copies share: one that is there, where there is one. */
const fingerprinted = (connection: DatabaseSync): readonly Fingerprinted[] =>
  connection
    // Beside min(), SQLite takes the other columns from the row that has the minimum.
    .prepare(
      `SELECT key, blob, size, fingerprint, min(is_earlier) AS is_earlier FROM (${everyObject})
       WHERE blob IS NOT NULL AND fingerprint IS NOT NULL AND NOT EXISTS (SELECT 1 FROM small_contents WHERE name = blob)
       GROUP BY blob`,
    )
    .all()
    .map(({ key, blob, size, fingerprint, is_earlier }) => ({
      key: String(key),
      isEarlier: is_earlier === 1,
      blob: String(blob),
      size: Number(size),
      fingerprint: String(fingerprint),
    }))

/**
 * Files whose bytes are not those that were stored, as far as their fingerprint is known. What is missing or of another size is left to others: it may
 * have been given up since.
 */
export const byteFaults = async (connection: DatabaseSync, { blobs }: DataDirectory): Promise<readonly Fault[]> => {
  const faultOf = (owner: Owner, name: string) => faultOfBytes(owner, `${areOthers}: ${name}`)
  const contents = await damagedContents(connection)
  const faults = contents.filter(({ fault }) => fault === areOthers).map((content) => faultOf(content, content.name))
  const verifier = openBlobVerifier()
  try {
    await inParallel(fingerprinted(connection), atOnce, async ({ blob, size, fingerprint, ...owner }) => {
      const fault = await verifier.faultOf(pathOfBlob(blobs, blob), { size, fingerprint })
      if (fault === areOthers) faults.push(faultOf(owner, blob))
    })
  } finally {
    await verifier.close()
  }
  return faults
}
