import { type Dirent, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { everyObject } from '../sqlite/tables.ts'
import { createIsHeld } from './backup-holds.ts'
import type { BlobFolders } from './blobs.ts'

/** Milliseconds: 7 days (O-16). */
const orphanLifetime = 7 * 24 * 60 * 60 * 1000

interface DamagedObject {
  readonly key: string
  readonly blob: string
  readonly size: number
  /** Bytes; undefined when there is no blob. */
  readonly found: number | undefined
}

export interface TidyReport {
  readonly orphans: number
  /** Current objects only: nobody can mend an earlier state, and `check` names it. */
  readonly damaged: readonly DamagedObject[]
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry: Dirent) => entry.isFile())
    .map(({ name }) => name)

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size

interface ObjectInBlob extends Omit<DamagedObject, 'found'> {
  readonly isEarlier: boolean
}

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

export const blobsOfUploads = (connection: DatabaseSync): readonly string[] =>
  connection
    .prepare('SELECT blob FROM uploads WHERE blob IS NOT NULL')
    .all()
    .map(({ blob }) => String(blob))

const removeOldOrphans = (orphans: string, now: number): void => {
  for (const name of filesIn(orphans)) {
    const path = join(orphans, name)
    if (statSync(path).mtimeMs < now - orphanLifetime) rmSync(path)
  }
}

/**
 * Moves blobs that nothing refers to into `orphans/`, and finds missing ones. Blobs of running requests look just the
 * same, so only a service does this, before its first request. During a backup nothing is moved: it may need these
 * blobs. `now` is in milliseconds since the epoch.
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
