import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { inParallel } from '../../core/in-parallel.ts'
import { fingerprintOf } from '../../storage/content.ts'
import type { DamageCounts } from '../directory/backup-marker.ts'
import type { DataDirectory } from '../directory/data-directory.ts'
import type { Finding } from '../directory/faults.ts'
import { pathOfBlob } from '../objects/blobs.ts'
import { all, each } from '../sqlite/queries.ts'
import { everyObject, isInBlob } from '../sqlite/tables.ts'
import { checkRows } from './database-pass.ts'
import { type ContentOwner, findingOfBytes } from './file-pass.ts'
import { type BlobContent, bytesDiffer, faultOfSize, openBlobVerifier, unreadable } from './verify-blobs.ts'

/**
 * These bytes belong to a current file; to an old version, which cannot be repaired and expires later; or to an
 * unfinished upload, which its sender can start again.
 */
export type Need = 'now' | 'earlier' | 'upload'

export interface Damaged extends Finding {
  readonly need: Need
}

/** Only damaged current files make a backup incomplete. */
export const neededNow = (damaged: readonly Damaged[]): readonly Damaged[] =>
  damaged.filter(({ need }) => need === 'now')

export const countsOf = (damaged: readonly Damaged[]): DamageCounts => {
  const count = (wanted: Need) => damaged.filter(({ need }) => need === wanted).length
  return { damaged: count('now'), damagedEarlier: count('earlier'), damagedUploads: count('upload') }
}

// Copies share their bytes, so the check compares each content with one object only: a current object, if possible.
interface SmallContent extends BlobContent, ContentOwner {
  readonly name: string
  readonly bytes: Uint8Array
}

const faultOf = ({ bytes, size, fingerprint }: SmallContent): string | undefined => {
  if (bytes.length !== size) return faultOfSize(size, bytes.length)
  return fingerprint === null || fingerprintOf(bytes) === fingerprint ? undefined : bytesDiffer
}

// The number of contents in one step: at most 4 MiB. Other work runs between the steps.
const contentsPerTurn = 256

// Compares small contents with the fingerprints of their objects, in the order of the contents on the disk. Throws the
// reason of `signal` when it is aborted.
async function* damagedContents(connection: DatabaseSync, signal?: AbortSignal) {
  // With min(), SQLite takes the other columns from the row that has the minimum.
  const contents = each<SmallContent>(
    connection,
    `SELECT name, bytes, object.* FROM small_contents CROSS JOIN (
       SELECT blob, key, size, fingerprint, min(isEarlier) AS isEarlier FROM (${everyObject})
       WHERE blob IS NOT NULL GROUP BY blob) AS object ON object.blob = name`,
  )
  let count = 0
  for (const content of contents) {
    const fault = faultOf(content)
    if (fault !== undefined) yield { ...content, fault }
    count += 1
    if (count % contentsPerTurn > 0) continue
    await yieldTurn()
    signal?.throwIfAborted()
  }
}

/** The checks for a backup: rows, and small contents. `database` is the path that the report shows. */
export const checkDatabaseBytes = async (
  connection: DatabaseSync,
  database: string,
  signal: AbortSignal,
): Promise<readonly Damaged[]> => {
  const damaged = checkRows(connection, database).map((finding): Damaged => ({ need: 'now', ...finding }))
  for await (const { name, isEarlier, fault } of damagedContents(connection, signal)) {
    damaged.push({ need: isEarlier ? 'earlier' : 'now', where: `${name} in ${database}`, fault })
  }
  return damaged
}

const atOnce = 8

const fingerprinted = all<ContentOwner & BlobContent & { readonly blob: string }>(
  `SELECT key, blob, size, fingerprint, min(isEarlier) AS isEarlier FROM (${everyObject})
   WHERE fingerprint IS NOT NULL AND ${isInBlob} GROUP BY blob`,
)

/**
 * Files whose bytes cannot be read, or do not match their fingerprint. Does not report missing blobs and wrong sizes,
 * because the blob may have been removed meanwhile.
 */
export const checkBytes = async (connection: DatabaseSync, { blobs }: DataDirectory): Promise<readonly Finding[]> => {
  const findings: Finding[] = []
  for await (const content of damagedContents(connection)) {
    if (content.fault === bytesDiffer) findings.push(findingOfBytes(content, `${bytesDiffer}: ${content.name}`))
  }
  await using verifier = openBlobVerifier()
  await inParallel(fingerprinted(connection)(), atOnce, async (object) => {
    const fault = await verifier.faultOf(pathOfBlob(blobs, object.blob), object)
    if (fault === bytesDiffer) findings.push(findingOfBytes(object, `${fault}: ${object.blob}`))
    else if (fault?.startsWith(unreadable)) findings.push(findingOfBytes(object, fault))
  })
  return findings
}
