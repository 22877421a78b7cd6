import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { inParallel } from '../../core/in-parallel.ts'
import { fingerprintOf } from '../../storage/fingerprint.ts'
import type { DataDirectory } from '../directory/data-directory.ts'
import { pathOfBlob } from '../objects/blobs.ts'
import { everyObject } from '../sqlite/tables.ts'
import type { Damaged, Fault } from './backup-marker.ts'
import { rowFaults } from './database-faults.ts'
import { faultOfBytes, type Owner } from './file-faults.ts'
import { type BlobContent, bytesDiffer, faultOfSize, openBlobVerifier } from './verify-blobs.ts'

export interface DamagedContent {
  readonly name: string
  readonly key: string
  readonly isEarlier: boolean
  readonly fault: string
}

const faultOf = (bytes: Uint8Array, { size, fingerprint }: BlobContent): string | undefined => {
  if (bytes.length !== size) return faultOfSize(size, bytes.length)
  return fingerprint === null || fingerprintOf(bytes) === fingerprint ? undefined : bytesDiffer
}

/** Contents between two turns for everything else: 4 MiB at most. */
const contentsPerTurn = 256

/**
 * Compares small contents with the fingerprints of their objects, in the order in which they lie on the disk. Throws
 * the reason of `signal` when that is aborted.
 */
const damagedContents = async (connection: DatabaseSync, signal?: AbortSignal): Promise<readonly DamagedContent[]> => {
  // Beside min(), SQLite takes the other columns from the row that has the minimum.
  const contents = connection.prepare(
    `SELECT name, bytes, object.* FROM small_contents CROSS JOIN (
       SELECT blob, key, size, fingerprint, min(is_earlier) AS is_earlier FROM (${everyObject})
       WHERE blob IS NOT NULL GROUP BY blob) AS object ON object.blob = name`,
  )
  const damaged: DamagedContent[] = []
  let left = contentsPerTurn
  for (const { name, bytes, key, size, fingerprint, is_earlier } of contents.iterate()) {
    const content = { size: Number(size), fingerprint: typeof fingerprint === 'string' ? fingerprint : null }
    const fault = bytes instanceof Uint8Array ? faultOf(bytes, content) : bytesDiffer
    if (fault !== undefined) {
      damaged.push({ name: String(name), key: String(key), isEarlier: is_earlier === 1, fault })
    }
    left -= 1
    if (left > 0) continue
    left = contentsPerTurn
    await yieldTurn()
    signal?.throwIfAborted()
  }
  return damaged
}

/** For a backup: rows, and small contents. `database` is where the report says that they are. */
export const damageOfContents = async (
  connection: DatabaseSync,
  database: string,
  signal: AbortSignal,
): Promise<readonly Damaged[]> => [
  ...rowFaults(connection, database),
  ...(await damagedContents(connection, signal)).map(({ name, isEarlier, fault }) => ({
    need: isEarlier ? ('earlier' as const) : ('now' as const),
    where: `${name} in ${database}`,
    fault,
  })),
]

const atOnce = 8

interface Fingerprinted extends Owner {
  readonly blob: string
  readonly size: number
  readonly fingerprint: string
}

/** One object for each blob, which copies share: a current one, where there is one. */
const fingerprinted = (connection: DatabaseSync): readonly Fingerprinted[] =>
  connection
    // Beside min(), SQLite takes the other columns from the row that has the minimum.
    .prepare(
      `SELECT key, blob, size, fingerprint, min(is_earlier) AS is_earlier FROM (${everyObject})
       WHERE blob IS NOT NULL AND fingerprint IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM small_contents WHERE name = blob)
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
 * Files whose bytes do not have their fingerprint. Missing bytes and other sizes are not reported: the blob may have
 * been given up since.
 */
export const byteFaults = async (connection: DatabaseSync, { blobs }: DataDirectory): Promise<readonly Fault[]> => {
  const faultOf = (owner: Owner, name: string) => faultOfBytes(owner, `${bytesDiffer}: ${name}`)
  const contents = await damagedContents(connection)
  const faults = contents.filter(({ fault }) => fault === bytesDiffer).map((content) => faultOf(content, content.name))
  const verifier = openBlobVerifier()
  try {
    await inParallel(fingerprinted(connection), atOnce, async ({ blob, size, fingerprint, ...owner }) => {
      const fault = await verifier.faultOf(pathOfBlob(blobs, blob), { size, fingerprint })
      if (fault === bytesDiffer) faults.push(faultOf(owner, blob))
    })
  } finally {
    await verifier.close()
  }
  return faults
}
