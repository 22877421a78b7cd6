import type { HistoryEntry } from '../../core/history-entry.ts'
import { unlimited } from '../../core/time.ts'
import { noFileAt } from '../../storage/changes/change.ts'
import {
  type Change,
  NotPlaced,
  type PlaceConditions,
  type RemovedFolder,
  type Staged,
  type Transfer,
} from '../../storage/object-store.ts'
import { editions, folderIn, folderKey, foldersAround, pathIn } from '../../storage/path.ts'
import type { RecordChange } from '../tables/history.ts'
import { newName } from './blobs.ts'
import { endOf, type ObjectRow, type ObjectRows } from './object-rows.ts'
import type { OldObjects } from './old-objects.ts'

/** The fingerprint of large content is null, because it is computed after the bytes are placed. */
export interface StagedBlob extends Pick<ObjectRow, 'size' | 'contentType' | 'fingerprint'> {
  readonly blob: string
  /** Undefined if the bytes are in a blob. */
  readonly bytes?: Uint8Array
  /** Runs in the transaction that places the bytes. If this throws, the bytes are not placed. */
  readonly alongside?: () => void
}

export interface Placing {
  readonly rows: ObjectRows
  readonly old: OldObjects
  readonly stagedBlob: (staged: Staged) => StagedBlob
  readonly isLocked: (unlocked: PlaceConditions['unlocked']) => boolean
  readonly record: RecordChange
}

const isTaken = (rows: ObjectRows, key: string): boolean =>
  key.endsWith('/') ? rows.isAny(key, endOf(key)) : rows.get(key) !== undefined

const put = ({ rows, old }: Placing, key: string, { bytes, alongside, ...staged }: StagedBlob): void => {
  alongside?.()
  old.keep(key, false)
  if (bytes) rows.keepContent(staged.blob, bytes)
  rows.put({ ...staged, key, modified: Date.now(), version: staged.blob })
}

const newVersion = () => ({ modified: Date.now(), version: newName() })

const newFolder = () => ({ ...newVersion(), blob: null, size: 0, contentType: '', fingerprint: null })

const copy = (rows: ObjectRows, { from, key, contentType }: Transfer): boolean => {
  const row = rows.get(from.key)
  if (row?.version !== from.version) return false
  return rows.insert({ ...row, ...newVersion(), key, contentType: contentType ?? row.contentType })
}

const move = ({ rows, old }: Placing, { from, key, contentType }: Transfer): boolean => {
  old.keep(from.key, true, from.version)
  // A restored object keeps the name of its version.
  old.rename(key, from.version, newName())
  return rows.rename(from.key, from.version, key, contentType ?? null) === 1
}

const transfer = (placing: Placing, change: Transfer): void => {
  const { kind, from, key } = change
  const { rows } = placing
  if (kind === 'move' ? move(placing, change) : copy(rows, change)) return
  throw new NotPlaced(rows.get(key) ? { outcome: 'occupied', key } : { outcome: 'stale', key: from.key })
}

// The last removed version is restored unchanged. Any other version becomes a new version with the same bytes.
const restore = ({ rows, old }: Placing, key: string, id: string): void => {
  const present = rows.get(key)
  const row = present?.version === id ? present : old.get(key, id)
  if (!row) throw new NotPlaced({ outcome: 'stale', key })
  if (present || !old.isLast(key, id)) {
    old.keep(key, false)
    rows.put({ ...row, ...newVersion() })
  } else {
    old.forgetLast(key)
    rows.put(row)
  }
}

const apply = (placing: Placing, change: Change) => {
  const { rows, old, stagedBlob } = placing
  switch (change.kind) {
    case 'put':
      return put(placing, change.key, stagedBlob(change.staged))
    case 'folder':
      return rows.insert({ ...newFolder(), key: change.key })
    case 'move':
    case 'copy':
      return transfer(placing, change)
    case 'restore':
      return restore(placing, change.key, change.id)
    case 'remove':
      old.keep(change.key, true)
      return rows.remove(change.key)
    default:
      return change satisfies never
  }
}

// Since the look of a restore, one of its folders may have become a file, or one of its files a folder. It may also
// bring back both.
const requireNoClash = (rows: ObjectRows, { site }: PlaceConditions['unlocked'], changes: readonly Change[]): void => {
  const keys = changes.filter(({ kind }) => kind === 'restore').map(({ key }) => key)
  const files = keys.filter((key) => !key.endsWith('/')).map(pathIn)
  const below = files.flatMap((path) => editions.map((edition) => folderKey(edition, site, path)))
  const folders = foldersAround(keys.map(folderIn))
  const taken = [...below, ...noFileAt(site, folders).map(([key]) => key)].find((key) => isTaken(rows, key))
  if (taken !== undefined) throw new NotPlaced({ outcome: 'occupied', key: taken })
}

/** Errors: NotPlaced, if others have stored objects in the folder since it was listed. */
export const requireEmpty = (rows: ObjectRows, removed?: RemovedFolder): void => {
  if (!removed) return
  const { site, folder } = removed
  const left = editions.map((edition) => folderKey(edition, site, folder)).find((key) => isTaken(rows, key))
  if (left !== undefined) throw new NotPlaced({ outcome: 'stale', key: left })
}

/**
 * Checks the conditions, makes the changes and records them, within a transaction. A folder that already exists does
 * not count as a change. Throws NotPlaced.
 */
export const placeChanges = (
  placing: Placing,
  changes: readonly Change[],
  { absent, present = [], matching = [], unlocked, deadline = unlimited, removedFolder }: PlaceConditions,
  entry: HistoryEntry,
): void => {
  const { rows, isLocked, record } = placing
  if (isLocked(unlocked)) throw new NotPlaced({ outcome: 'locked' })
  const gone = present.find((key) => !rows.get(key))
  if (gone !== undefined) throw new NotPlaced({ outcome: 'stale', key: gone })
  const rival = absent.find((key) => isTaken(rows, key))
  if (rival !== undefined) throw new NotPlaced({ outcome: 'occupied', key: rival })
  const changed = matching.find(({ key, version }) => rows.get(key)?.version !== version)
  if (changed) throw new NotPlaced({ outcome: 'changed', key: changed.key })
  if (!changes.every(({ kind, key }) => kind === 'folder' && rows.get(key))) record(entry)
  for (const change of changes) {
    if (deadline.isOver()) throw new NotPlaced({ outcome: 'late' })
    apply(placing, change)
  }
  requireNoClash(rows, unlocked, changes)
  requireEmpty(rows, removedFolder)
}
