import { randomBytes } from 'node:crypto'
import {
  type Change,
  NotPlaced,
  type ObjectStore,
  type PlaceConditions,
  type Staged,
  type Transfer,
} from '../../lib/storage/object-store.ts'
import { readAhead } from '../../lib/storage/read-ahead.ts'
import type { Blobs } from './blobs.ts'
import { endOf, type ObjectRows } from './object-rows.ts'

/** The bytes of a staged upload: under a name that no row refers to yet. */
interface StagedBlob extends Pick<Staged, 'size'> {
  readonly blob: string
  /** Few bytes wait in memory; undefined when there is a blob on the disk. */
  readonly bytes?: Uint8Array
  readonly contentType: string
}

/** A name for what no one else can have named. */
const newName = (): string => randomBytes(16).toString('hex')

interface Options {
  readonly blobs: Blobs
  /** Up to this size content is kept in the database: quicker than a file, and made durable with its row. In bytes. */
  readonly smallContent: number
  /** How much small content waits in memory, that of all requests together, before more of it goes into blobs. In bytes. */
  readonly mostWaiting: number
}

/** Bytes that have come in and are not in place yet. */
interface Staging {
  readonly stage: ObjectStore['stage']
  of(staged: Staged): StagedBlob
  /** Forgets what has been put in place. */
  placed(staged: Staged): void
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export const createStaging = ({ blobs, smallContent, mostWaiting }: Options): Staging => {
  const waiting = new Map<Staged, StagedBlob>()
  let inMemory = 0

  /** Answers whether it was still waiting. */
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

  return {
    async stage(content, { contentType }) {
      const blob = newName()
      const ahead = await readAhead(content, smallContent)
      if (!ahead.isWhole) return keep({ blob, size: await blobs.write(blob, ahead.content), contentType })
      const bytes = Buffer.concat(ahead.gathered, ahead.size)
      if (inMemory + bytes.length <= mostWaiting) return keep({ blob, size: bytes.length, contentType, bytes })
      return keep({ blob, size: await blobs.write(blob, only(bytes)), contentType })
    },

    of(staged) {
      const found = waiting.get(staged)
      if (!found) throw new Error('These bytes do not wait in this store')
      return found
    },

    placed: (staged) => void forget(staged),
  }
}

/** What changes are applied with. */
interface Placing {
  readonly rows: ObjectRows
  readonly stagedOf: (staged: Staged) => StagedBlob
  /** Whether a folder is being removed, as the same transaction sees it. */
  readonly isGoing: (staying: PlaceConditions['staying']) => boolean
}

const isTaken = (rows: ObjectRows, key: string): boolean =>
  key.endsWith('/') ? rows.isAny(key, endOf(key)) : rows.get(key) !== undefined

/**
 * Removes the bytes that a row has left behind, unless a copy still refers to them. Answers the name of the blob that is to be removed when
 * all of it is on the disk.
 */
export const dropBytes = (rows: ObjectRows, name: string | null): readonly string[] =>
  name === null || rows.refersTo(name) || rows.dropContent(name) ? [] : [name]

const put = (rows: ObjectRows, key: string, { blob, bytes, size, contentType }: StagedBlob): readonly string[] => {
  const before = rows.remove(key)
  if (bytes) rows.keepContent(blob, bytes)
  rows.put({ key, blob, size, modified: Date.now(), contentType, version: blob })
  return dropBytes(rows, before)
}

const createFolder = (rows: ObjectRows, key: string): boolean =>
  rows.insert({ key, blob: null, size: 0, modified: Date.now(), contentType: '', version: newName() })

/** The copy refers to the same bytes. */
const copy = (rows: ObjectRows, { from, key, contentType }: Transfer): boolean => {
  const row = rows.get(from.key)
  if (row?.version !== from.version) return false
  const type = contentType ?? row.contentType
  return rows.insert({ ...row, key, contentType: type, modified: Date.now(), version: newName() })
}

const transfer = (rows: ObjectRows, change: Transfer): void => {
  const { kind, from, key, contentType } = change
  if (kind === 'move' ? rows.rename(from.key, from.version, key, contentType) : copy(rows, change)) return
  throw new NotPlaced(rows.get(key) ? { outcome: 'rival', key } : { outcome: 'stale', key: from.key })
}

/** Answers the blobs that nothing refers to any more. */
const apply = ({ rows, stagedOf }: Placing, change: Change): readonly string[] => {
  switch (change.kind) {
    case 'put':
      return put(rows, change.key, stagedOf(change.staged))
    case 'folder':
      createFolder(rows, change.key)
      return []
    case 'move':
    case 'copy':
      transfer(rows, change)
      return []
    case 'remove':
      return dropBytes(rows, rows.remove(change.key))
  }
}

/**
 * Checks the conditions and applies the changes, within a transaction. Answers the blobs that nothing refers to once it is on the disk.
 * Throws NotPlaced.
 */
export const placeChanges = (
  placing: Placing,
  changes: readonly Change[],
  { absent, standing = [], staying, remainingTime = () => Number.POSITIVE_INFINITY }: PlaceConditions,
): readonly string[] => {
  const { rows, isGoing } = placing
  if (isGoing(staying)) throw new NotPlaced({ outcome: 'going' })
  const gone = standing.find((key) => !rows.get(key))
  if (gone !== undefined) throw new NotPlaced({ outcome: 'stale', key: gone })
  const rival = absent.find((key) => isTaken(rows, key))
  if (rival !== undefined) throw new NotPlaced({ outcome: 'rival', key: rival })
  return changes.flatMap((change) => {
    if (remainingTime() <= 0) throw new NotPlaced({ outcome: 'late' })
    return apply(placing, change)
  })
}
