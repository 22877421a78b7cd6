import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { createFingerprint } from '../../storage/fingerprint.ts'
import { everyObject } from '../sqlite/tables.ts'
import type { Damaged } from './damage.ts'
import { areOthers, type BlobContent, faultOfSize } from './verify-blobs.ts'

/** What the database keeps of a small file itself, and is not what was stored. */
export interface DamagedContent {
  readonly name: string
  /** One of the objects that have it: one that is there, where there is one. */
  readonly key: string
  readonly isEarlier: boolean
  readonly fault: string
}

const fingerprintOf = (bytes: Uint8Array): string => {
  const making = createFingerprint()
  making.update(bytes)
  return making.digest()
}

const faultOf = (bytes: Uint8Array, { size, fingerprint }: BlobContent): string | undefined => {
  if (bytes.length !== size) return faultOfSize(size, bytes.length)
  return fingerprint === null || fingerprintOf(bytes) === fingerprint ? undefined : areOthers
}

/** After so many of them, which are 4 MiB at the most, everything else has its turn. */
const atOnce = 256

/**
 * Compares each content that the database keeps itself with the fingerprint of its objects, one after the other and in the order in which they lie on
 * the disk. Throws the reason of `signal` when that is aborted.
 */
export const damagedContents = async (
  connection: DatabaseSync,
  signal?: AbortSignal,
): Promise<readonly DamagedContent[]> => {
  // Beside min(), SQLite takes the other columns from the row that has the minimum.
  const contents = connection.prepare(
    `SELECT name, bytes, object.* FROM small_contents CROSS JOIN (
       SELECT blob, key, size, fingerprint, min(is_earlier) AS is_earlier FROM (${everyObject})
       WHERE blob IS NOT NULL GROUP BY blob) AS object ON object.blob = name`,
  )
  const damaged: DamagedContent[] = []
  let left = atOnce
  for (const { name, bytes, key, size, fingerprint, is_earlier } of contents.iterate()) {
    const content = { size: Number(size), fingerprint: typeof fingerprint === 'string' ? fingerprint : null }
    const fault = bytes instanceof Uint8Array ? faultOf(bytes, content) : areOthers
    if (fault !== undefined) {
      damaged.push({ name: String(name), key: String(key), isEarlier: is_earlier === 1, fault })
    }
    left -= 1
    if (left > 0) continue
    left = atOnce
    await turn()
    signal?.throwIfAborted()
  }
  return damaged
}

/** The same for a backup: `database` is where it says that they are. */
export const damageOfContents = async (
  connection: DatabaseSync,
  database: string,
  signal: AbortSignal,
): Promise<readonly Damaged[]> =>
  (await damagedContents(connection, signal)).map(({ name, isEarlier, fault }) => ({
    need: isEarlier ? 'earlier' : 'now',
    where: `${name} in ${database}`,
    fault,
  }))
