import { copyFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { systemCodeOf } from '../../core/system-failures.ts'
import { flush } from '../directory/data-directory.ts'
import { column, each, type Flag } from '../sqlite/queries.ts'
import { everyObject, isInBlob } from '../sqlite/tables.ts'
import type { BlobFolders } from './blobs.ts'
import type { ObjectRow } from './object-rows.ts'

// In milliseconds: 7 days (O-16).
const orphanLifetime = 7 * 24 * 60 * 60 * 1000

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

export const blobsOfUploads = (connection: DatabaseSync): readonly string[] =>
  column<string>('SELECT blob FROM uploads WHERE blob IS NOT NULL')(connection)()

export const removeOldOrphans = (orphans: string, now: number): void => {
  for (const name of filesIn(orphans)) {
    const path = join(orphans, name)
    if (statSync(path).mtimeMs < now - orphanLifetime) rmSync(path)
  }
}

// The operator may have put one of the folders on another disk. If a copy is interrupted, the next start repeats it.
const move = (from: string, to: string): void => {
  try {
    renameSync(from, to)
  } catch (error) {
    if (systemCodeOf(error) !== 'EXDEV') throw error
    copyFileSync(from, to)
    flush(to)
    flush(dirname(to))
    rmSync(from)
  }
}

/**
 * Moves blobs that no row refers to into `orphans/`, and finds missing blobs, and blobs without a fingerprint. The blobs
 * of running requests look the same, so only a service does this, before its first request. While a backup holds the
 * blobs, moves none. `now` is in milliseconds since the epoch.
 */
export const tidyBlobs = (
  connection: DatabaseSync,
  { blobs, orphans }: BlobFolders,
  { now, isHeld }: { readonly now: number; readonly isHeld: boolean },
) => {
  const present = new Set(filesIn(blobs))
  const unclaimed = new Set(present)
  // Only damaged current objects are counted, because old versions cannot be repaired. `check` lists both.
  let damaged = 0
  const withoutFingerprint = new Set<string>()
  const objects = each<Pick<ObjectRow, 'size' | 'fingerprint'> & { readonly blob: string; readonly isEarlier: Flag }>(
    connection,
    `SELECT blob, size, fingerprint, isEarlier FROM (${everyObject}) WHERE ${isInBlob}`,
  )
  for (const { blob, size, fingerprint, isEarlier } of objects) {
    const found = present.has(blob) ? statSync(join(blobs, blob), { throwIfNoEntry: false })?.size : undefined
    if (found !== size && !isEarlier) damaged += 1
    unclaimed.delete(blob)
    if (fingerprint === null) withoutFingerprint.add(blob)
  }
  for (const name of blobsOfUploads(connection)) unclaimed.delete(name)
  const orphaned = isHeld ? [] : [...unclaimed]
  for (const name of orphaned) {
    const path = join(orphans, name)
    move(join(blobs, name), path)
    // The age of an orphan counts from this move.
    utimesSync(path, now / 1000, now / 1000)
  }
  return { orphans: orphaned.length, damaged, withoutFingerprint }
}
