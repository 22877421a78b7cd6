import { lstatSync, readFileSync, statSync } from 'node:fs'
import packageFile from '../../../package.json' with { type: 'json' }
import { isMissing, reasonOf } from '../../core/system-failures.ts'
import { type DataDirectory, layoutVersion } from './data-directory.ts'
import { type Fault, isForbidden } from './faults.ts'
import { foreignFileIn } from './inspect.ts'
import { writePrivately } from './private-files.ts'

export interface DamageCounts {
  readonly damaged: number
  readonly damagedEarlier: number
  readonly damagedUploads: number
}

/** Damage is that of the moment when the backup was made. */
export interface BackupMarker extends DamageCounts {
  readonly version: string
  readonly layout: number
  /** The beginning: the backup holds the state of this moment. ISO, UTC. */
  readonly at: string
  /** Files of the sites, drafts included, earlier states not. */
  readonly files: number
  /** Bytes: the database, and every blob. */
  readonly bytes: number
}

/** Completes a backup: without its marker it is none. */
export const writeBackupMarker = (
  { backupMarker }: DataDirectory,
  marker: Omit<BackupMarker, 'version' | 'layout'>,
): BackupMarker => {
  const whole = { version: packageFile.version, layout: layoutVersion, ...marker }
  writePrivately(backupMarker, `${JSON.stringify({ service: 'site-admin', ...whole })}\n`)
  return whole
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value)

const isVersion = (value: unknown): value is string =>
  typeof value === 'string' && /^\d+\.\d+\.\d+[\w.+-]*$/.test(value) && value.length <= 64

const parse = (text: string): BackupMarker | undefined => {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) return undefined
  const marker: Partial<Record<keyof BackupMarker, unknown>> = value
  // Backups of before do not tell the earlier states and the uploads apart.
  const { version, layout, at, files, bytes, damaged, damagedEarlier = 0, damagedUploads = 0 } = marker
  if (!(isVersion(version) && typeof at === 'string' && isCount(layout))) return undefined
  if (!(isCount(files) && isCount(bytes))) return undefined
  if (!(isCount(damaged) && isCount(damagedEarlier) && isCount(damagedUploads))) return undefined
  return { version, layout, at, files, bytes, damaged, damagedEarlier, damagedUploads }
}

const read = (backup: DataDirectory): BackupMarker | Fault => {
  const { path, backupMarker, blobs } = backup
  try {
    const stranger = foreignFileIn(backup)
    if (stranger !== undefined) return { code: 'backupUnreadable', detail: stranger }
    if (lstatSync(blobs, { throwIfNoEntry: false })?.isDirectory() === false) {
      return { code: 'backupUnreadable', detail: `${blobs} is not a folder` }
    }
    return parse(readFileSync(backupMarker, 'utf8')) ?? { code: 'backupUnclear' }
  } catch (error) {
    if (!isMissing(error)) {
      return { code: isForbidden(error) ? 'backupForbidden' : 'backupUnreadable', detail: reasonOf(error) }
    }
    return { code: statSync(path, { throwIfNoEntry: false }) ? 'backupIncomplete' : 'backupAbsent' }
  }
}

/** Answers a fault where there is no backup, or none that this program reads. */
export const readBackupMarker = (backup: DataDirectory): BackupMarker | Fault => {
  const marker = read(backup)
  if ('code' in marker || marker.layout === layoutVersion) return marker
  return { code: 'backupOfOtherLayout', detail: marker.version }
}
