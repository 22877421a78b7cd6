import { lstatSync, readFileSync, statSync } from 'node:fs'
import packageFile from '../../../package.json' with { type: 'json' }
import { isMissing, reasonOf } from '../../core/system-failures.ts'
import { type DataDirectory, foreignFileIn, layoutVersion } from '../directory/data-directory.ts'
import { isForbidden, UsageError } from '../directory/failures.ts'
import { writePrivately } from '../directory/private-files.ts'

/**
 * Who needs the bytes: the sites as they are now; earlier states of files, which nobody can mend and which are
 * forgotten in time; or an unfinished upload, which its sender begins anew, and which expires.
 */
export type Need = 'now' | 'earlier' | 'upload'

/** The file or the part of a site that is at fault, what is wrong, and what to do about it. */
export interface Fault {
  readonly where: string
  readonly fault: string
}

export interface Damaged extends Fault {
  readonly need: Need
}

/** Only these keep a backup from being whole. */
export const neededNow = (damaged: readonly Damaged[]): readonly Damaged[] =>
  damaged.filter(({ need }) => need === 'now')

export interface DamageCounts {
  readonly damaged: number
  readonly damagedEarlier: number
  readonly damagedUploads: number
}

export const countsOf = (damaged: readonly Damaged[]): DamageCounts => {
  const count = (wanted: Need) => damaged.filter(({ need }) => need === wanted).length
  return { damaged: count('now'), damagedEarlier: count('earlier'), damagedUploads: count('upload') }
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

const whatToDo = 'Name another backup. Nothing was changed.'
const ownersOnly = 'Only rights are missing: run this as the user who owns the backup. Nothing was changed.'

const read = (backup: DataDirectory): BackupMarker => {
  const { path, backupMarker, blobs } = backup
  try {
    const stranger = foreignFileIn(backup)
    if (stranger !== undefined) throw new Error(stranger)
    if (lstatSync(blobs, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new Error(`${blobs} is not a folder`)
    const marker = parse(readFileSync(backupMarker, 'utf8'))
    if (marker) return marker
  } catch (error) {
    if (isMissing(error)) {
      if (!statSync(path, { throwIfNoEntry: false })) throw new UsageError(`There is no backup ${path}. ${whatToDo}`)
      throw new UsageError(`${path} is not a complete backup: it has no ${backupMarker}. ${whatToDo}`)
    }
    const advice = isForbidden(error) ? ownersOnly : whatToDo
    throw new UsageError(`The backup ${path} cannot be read: ${reasonOf(error)}. ${advice}`)
  }
  throw new UsageError(`The backup ${path} is damaged: ${backupMarker} does not say what is in it. ${whatToDo}`)
}

/** Throws UsageError where there is no backup, or none that this program reads. */
export const readBackupMarker = (backup: DataDirectory): BackupMarker => {
  const marker = read(backup)
  if (marker.layout === layoutVersion) return marker
  throw new UsageError(
    `The backup ${backup.path} was made by version ${marker.version} of this program, which uses another layout. ` +
      'Restore it with that version. Nothing was changed.',
  )
}
