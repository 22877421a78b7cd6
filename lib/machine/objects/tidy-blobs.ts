import { type Dirent, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { everyObject } from '../sqlite/tables.ts'
import { createIsHeld } from './backup-holds.ts'
import type { BlobFolders } from './blobs.ts'

/** Milliseconds that a blob is kept when nothing refers to it any more: 7 days (decisions.md, section 6). */
const orphanLifetime = 7 * 24 * 60 * 60 * 1000

/** An object whose bytes are not there as they should be. */
interface DamagedObject {
  readonly key: string
  /** The name of its blob. */
  readonly blob: string
  /** Bytes, as its row says. */
  readonly size: number
  /** Bytes that are there; undefined when there is no blob. */
  readonly found: number | undefined
}

export interface TidyReport {
  /** How many blobs were moved to `orphans/`. */
  readonly orphans: number
  /** Those that are there. Nobody can mend an earlier state, and `check` names it. */
  readonly damaged: readonly DamagedObject[]
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry: Dirent) => entry.isFile())
    .map(({ name }) => name)

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size

interface ObjectInBlob extends Omit<DamagedObject, 'found'> {
  /** Whether it was replaced or removed. */
  readonly isEarlier: boolean
}

/** The objects whose bytes are in a blob, those that are old among them, one after the other. */
function* objectsInBlobs(connection: DatabaseSync): Generator<ObjectInBlob> {
  const rows = connection
    .prepare(
      `SELECT key, blob, size, is_earlier FROM (${everyObject})
       WHERE blob IS NOT NULL AND NOT EXISTS (SELECT 1 FROM small_contents WHERE name = blob)`,
    )
    .iterate()
  for (const { key, blob, size, is_earlier } of rows)
    yield { key: String(key), blob: String(blob), size: Number(size), isEarlier: is_earlier === 1 }
}

/** The blobs of uploads that are not in place yet. */
export const blobsOfUploads = (connection: DatabaseSync): readonly string[] =>
  connection
    .prepare('SELECT blob FROM uploads WHERE blob IS NOT NULL')
    .all()
    .map(({ blob }) => String(blob))

/** Old orphans go for good. */
const removeOldOrphans = (orphans: string, now: number): void => {
  for (const name of filesIn(orphans)) {
    const path = join(orphans, name)
    if (statSync(path).mtimeMs < now - orphanLifetime) rmSync(path)
  }
}

/**
 * Moves the blobs that nothing refers to out of the way, and looks for those that are missing. Blobs of requests that are being worked on look
 * just the same, so only a service that has the directory for itself may do this, before its first request. While a backup is being made, nothing is
 * moved: it may need what nothing refers to any more. `now`: milliseconds since the epoch.
 */
export const tidyBlobs = (connection: DatabaseSync, { blobs, orphans }: BlobFolders, now: number): TidyReport => {
  const present = new Set(filesIn(blobs))
  const unclaimed = new Set(present)
  const damaged: DamagedObject[] = []
  for (const { isEarlier, ...object } of objectsInBlobs(connection)) {
    const found = present.has(object.blob) ? sizeOf(join(blobs, object.blob)) : undefined
    if (found !== object.size && !isEarlier) damaged.push({ ...object, found })
    unclaimed.delete(object.blob)
  }
  for (const name of blobsOfUploads(connection)) unclaimed.delete(name)
  const orphaned = createIsHeld(connection)(now) ? [] : [...unclaimed]
  for (const name of orphaned) {
    const path = join(orphans, name)
    renameSync(join(blobs, name), path)
    // The time that counts is that of the move.
    utimesSync(path, now / 1000, now / 1000)
  }
  removeOldOrphans(orphans, now)
  return { orphans: orphaned.length, damaged }
}
