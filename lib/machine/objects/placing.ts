import { randomBytes } from 'node:crypto'
import { unlimited } from '../../core/deadline.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import { createFingerprint, fingerprintOf, partLength } from '../../storage/fingerprint.ts'
import {
  type Change,
  NotPlaced,
  type ObjectStore,
  type PlaceConditions,
  type Restoration,
  type Staged,
  type Transfer,
} from '../../storage/object-store.ts'
import { readAhead } from '../../storage/read-ahead.ts'
import type { RecordChange } from '../tables/history.ts'
import type { Blobs } from './blobs.ts'
import { endOf, type ObjectRows } from './object-rows.ts'
import type { OldObjects } from './old-objects.ts'

interface StagedBlob extends Pick<Staged, 'size'> {
  readonly blob: string
  /** Undefined when there is a blob on the disk. */
  readonly bytes?: Uint8Array
  readonly contentType: string
  /** Null for many bytes: it is made when they are in place. */
  readonly fingerprint: string | null
  /** Runs in the transaction that puts the bytes in place. An error keeps them from it. */
  readonly alongside?: () => void
}

export type AdoptedBlob = Omit<StagedBlob, 'bytes'>

const newName = (): string => randomBytes(16).toString('hex')

interface Options {
  readonly blobs: Blobs
  /** Bytes. The database is quicker than a file for small content, and makes it durable with its row. */
  readonly smallContent: number
  /** Bytes, for all requests together; more small content goes into blobs. */
  readonly mostWaiting: number
}

interface Staging {
  readonly stage: ObjectStore['stage']
  /** The blob stays when it is not put in place: the caller removes it. */
  adopt(blob: AdoptedBlob): Staged
  isBusy(): boolean
  of(staged: Staged): StagedBlob
  placed(staged: Staged): StagedBlob | undefined
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Stops at more than one part: that fingerprint is made later. */
const fingerprinting = (content: AsyncIterable<Uint8Array>) => {
  const making = createFingerprint()
  let size = 0
  return {
    fingerprint: () => (size > partLength ? null : making.digest()),
    content: (async function* () {
      for await (const chunk of content) {
        size += chunk.length
        if (size <= partLength) making.update(chunk)
        yield chunk
      }
    })(),
  }
}

export const createStaging = ({ blobs, smallContent, mostWaiting }: Options): Staging => {
  const waiting = new Map<Staged, StagedBlob>()
  let inMemory = 0
  let comingIn = 0

  const forget = (staged: Staged): boolean => {
    inMemory -= waiting.get(staged)?.bytes?.length ?? 0
    return waiting.delete(staged)
  }

  const keep = (staged: StagedBlob): Staged => {
    const { size, bytes, blob } = staged
    const kept: Staged = {
      size,
      async discard() {
        if (forget(kept) && !bytes) await blobs.remove([blob])
      },
    }
    waiting.set(kept, staged)
    inMemory += bytes?.length ?? 0
    return kept
  }

  const keepOnDisk = async (bytes: AsyncIterable<Uint8Array>, contentType: string): Promise<Staged> => {
    const blob = newName()
    const { content, fingerprint } = fingerprinting(bytes)
    const size = await blobs.write(blob, content)
    return keep({ blob, size, contentType, fingerprint: fingerprint() })
  }

  const takeIn: Staging['stage'] = async (content, { contentType }) => {
    const ahead = await readAhead(content, smallContent)
    if (!ahead.isWhole) return keepOnDisk(ahead.content, contentType)
    const bytes = Buffer.concat(ahead.gathered, ahead.size)
    if (inMemory + bytes.length > mostWaiting) return keepOnDisk(only(bytes), contentType)
    return keep({ blob: newName(), size: bytes.length, contentType, fingerprint: fingerprintOf(bytes), bytes })
  }

  return {
    async stage(content, target) {
      comingIn += 1
      try {
        return await takeIn(content, target)
      } finally {
        comingIn -= 1
      }
    },

    adopt(blob) {
      const kept: Staged = { size: blob.size, discard: async () => void waiting.delete(kept) }
      waiting.set(kept, blob)
      return kept
    },

    isBusy: () => comingIn > 0,

    of(staged) {
      const found = waiting.get(staged)
      if (!found) throw new Error('These bytes do not wait in this store')
      return found
    },

    placed(staged) {
      const found = waiting.get(staged)
      forget(staged)
      return found
    },
  }
}

interface Placing {
  readonly rows: ObjectRows
  readonly old: OldObjects
  readonly stagedOf: (staged: Staged) => StagedBlob
  readonly isBeingRemoved: (unlocked: PlaceConditions['unlocked']) => boolean
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

const createFolder = (rows: ObjectRows, key: string): boolean =>
  rows.insert({
    key,
    blob: null,
    size: 0,
    modified: Date.now(),
    contentType: '',
    version: newName(),
    fingerprint: null,
  })

const copy = (rows: ObjectRows, { from, key, contentType }: Transfer): boolean => {
  const row = rows.get(from.key)
  if (row?.version !== from.version) return false
  const type = contentType ?? row.contentType
  return rows.insert({ ...row, key, contentType: type, modified: Date.now(), version: newName() })
}

const move = ({ rows, old }: Placing, { from, key, contentType }: Transfer): boolean => {
  old.keepVersion(from.key, from.version)
  // The object may have been here before: it brings its name back.
  old.rename(key, from.version, newName())
  return rows.rename(from.key, from.version, key, contentType)
}

const transfer = (placing: Placing, change: Transfer): void => {
  const { kind, from, key } = change
  const { rows } = placing
  if (kind === 'move' ? move(placing, change) : copy(rows, change)) return
  throw new NotPlaced(rows.get(key) ? { outcome: 'occupied', key } : { outcome: 'stale', key: from.key })
}

/** The state that was removed last comes back as it was; any other becomes a new one with the same bytes. */
const restore = ({ rows, old }: Placing, { key, id }: Restoration): void => {
  const present = rows.get(key)
  if (present?.version === id) return
  const row = old.get(key, id)
  if (!row) throw new NotPlaced({ outcome: 'stale', key })
  if (present || !old.isLast(key, id)) {
    old.keep(key, false)
    rows.put({ ...row, modified: Date.now(), version: newName() })
  } else {
    old.forget(key, id)
    rows.put(row)
  }
}

const apply = (placing: Placing, change: Change): void => {
  const { rows, old, stagedOf } = placing
  switch (change.kind) {
    case 'put':
      put(placing, change.key, stagedOf(change.staged))
      break
    case 'folder':
      createFolder(rows, change.key)
      break
    case 'move':
    case 'copy':
      transfer(placing, change)
      break
    case 'restore':
      restore(placing, change)
      break
    case 'remove':
      old.keep(change.key, true)
      rows.remove(change.key)
  }
}

/**
 * Checks the conditions, applies the changes and records them, within a transaction. Existing folders are no change.
 * Throws NotPlaced.
 */
export const placeChanges = (
  placing: Placing,
  changes: readonly Change[],
  { absent, present = [], matching = [], unlocked, deadline = unlimited }: PlaceConditions,
  entry: HistoryEntry,
): void => {
  const { rows, isBeingRemoved, record } = placing
  if (isBeingRemoved(unlocked)) throw new NotPlaced({ outcome: 'locked' })
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
}
