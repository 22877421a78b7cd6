import { lstatSync, readFileSync, statSync } from 'node:fs'
import * as z from 'zod'
import packageFile from '../../../package.json' with { type: 'json' }
import { isMissing, reasonOf } from '../../core/system-failures.ts'
import { type DataDirectory, layoutVersion, writePrivately } from './data-directory.ts'
import { type Fault, isForbidden } from './faults.ts'
import { foreignFileIn } from './inspect.ts'

// The damage at the time of the backup. Old backups count only one kind of damage.
const markerSchema = z.object({
  version: z
    .string()
    .max(64)
    .regex(/^\d+\.\d+\.\d+[\w.+-]*$/),
  layout: z.int(),
  /** The moment when the backup began, in ISO format and UTC. The backup contains the state of this moment. */
  at: z.string(),
  /** The number of files of the sites, with drafts, without old versions. */
  files: z.int(),
  /** In bytes: the database, and every blob. */
  bytes: z.int(),
  damaged: z.int(),
  damagedEarlier: z.int().default(0),
  damagedUploads: z.int().default(0),
})

export type BackupMarker = Readonly<z.infer<typeof markerSchema>>

export type DamageCounts = Pick<BackupMarker, 'damaged' | 'damagedEarlier' | 'damagedUploads'>

/** Completes a backup: a backup without the marker is not valid. */
export const writeBackupMarker = (
  { backupMarker }: DataDirectory,
  marker: Omit<BackupMarker, 'version' | 'layout'>,
): BackupMarker => {
  const whole = { version: packageFile.version, layout: layoutVersion, ...marker }
  writePrivately(backupMarker, `${JSON.stringify({ service: 'site-admin', ...whole })}\n`)
  return whole
}

export const readBackupMarker = (backup: DataDirectory): BackupMarker | Fault => {
  const { path, backupMarker, blobs } = backup
  try {
    const stranger = foreignFileIn(backup)
    if (stranger !== undefined) return { code: 'backupUnreadable', detail: stranger }
    if (lstatSync(blobs, { throwIfNoEntry: false })?.isDirectory() === false) {
      return { code: 'backupUnreadable', detail: `${blobs} is not a folder` }
    }
    const { data: marker } = markerSchema.safeParse(JSON.parse(readFileSync(backupMarker, 'utf8')))
    if (!marker) return { code: 'backupUnclear' }
    return marker.layout === layoutVersion ? marker : { code: 'backupOfOtherLayout', detail: marker.version }
  } catch (error) {
    if (!isMissing(error)) {
      return { code: isForbidden(error) ? 'backupForbidden' : 'backupUnreadable', detail: reasonOf(error) }
    }
    return { code: statSync(path, { throwIfNoEntry: false }) ? 'backupIncomplete' : 'backupAbsent' }
  }
}
