import { randomBytes } from 'node:crypto'
import type { Change, Late, Rival, Staged, Stale } from '../../lib/storage/object-store.ts'
import { endOf, type IndexDatabase } from './index-database.ts'

/** The bytes of a staged upload: under a name that no row refers to yet. */
export interface StagedBlob extends Pick<Staged, 'size'> {
  readonly blob: string
  /** Few bytes wait in memory; undefined when there is a blob on the disk. */
  readonly bytes?: Uint8Array
  readonly contentType: string
}

type Blob = string | null

/** What one change did. */
interface Step {
  /** The blobs that nothing refers to once the change stands. */
  readonly replaced: readonly Blob[]
  /** Brings back what was there before, and answers the blobs that nothing refers to then. */
  undo(): readonly Blob[]
}

/** Thrown inside the transaction, so that nothing of it stays. */
class NotPossible extends Error {
  readonly result: Rival | Stale | Late
  constructor(result: Rival | Stale | Late) {
    super(result.outcome)
    this.result = result
  }
}

const isTaken = (index: IndexDatabase, key: string): boolean =>
  key.endsWith('/') ? index.first(key, endOf(key)) !== undefined : index.get(key) !== undefined

const put = (index: IndexDatabase, key: string, { blob, bytes, size, contentType: type }: StagedBlob): Step => {
  if (bytes) index.keepContent(blob, bytes)
  const before = index.get(key)
  index.put({ key, blob, size, modified: Date.now(), type, version: blob })
  return {
    replaced: [before?.blob ?? null],
    undo() {
      const current = index.removeVersion(key, blob)
      if (!before) return [blob]
      // What has been removed since stays removed.
      if (!current) return [blob, before.blob]
      index.put(before)
      return [blob]
    },
  }
}

const createFolder = (index: IndexDatabase, key: string): Step => {
  const version = randomBytes(16).toString('hex')
  index.insert({ key, blob: null, size: 0, modified: Date.now(), type: '', version })
  return {
    replaced: [],
    undo() {
      index.removeVersion(key, version)
      return []
    },
  }
}

const move = (index: IndexDatabase, { from, key: to, contentType }: Extract<Change, { kind: 'move' }>): Step => {
  const type = index.get(from.key)?.type
  if (index.get(to)) throw new NotPossible({ outcome: 'rival', key: to })
  if (!index.rename(from.key, from.version, to, contentType)) {
    throw new NotPossible({ outcome: 'stale', key: from.key })
  }
  return {
    replaced: [],
    undo() {
      index.rename(to, from.version, from.key, type)
      return []
    },
  }
}

const removeKey = (index: IndexDatabase, key: string): Step => {
  const before = index.remove(key)
  return {
    replaced: [before?.blob ?? null],
    undo() {
      if (before) index.insert(before)
      return []
    },
  }
}

const apply = (index: IndexDatabase, change: Change, stagedOf: (staged: Staged) => StagedBlob): Step => {
  switch (change.kind) {
    case 'put':
      return put(index, change.key, stagedOf(change.staged))
    case 'folder':
      return createFolder(index, change.key)
    case 'move':
      return move(index, change)
    case 'remove':
      return removeKey(index, change.key)
  }
}

/** Checks that nothing is at the `absent` keys and applies the changes, in one transaction. */
export const placeChanges = (
  index: IndexDatabase,
  changes: readonly Change[],
  absent: readonly string[],
  stagedOf: (staged: Staged) => StagedBlob,
  isTimeUp: () => boolean,
): readonly Step[] | Rival | Stale | Late => {
  try {
    return index.transaction(() => {
      const rival = absent.find((key) => isTaken(index, key))
      if (rival !== undefined) throw new NotPossible({ outcome: 'rival', key: rival })
      return changes.map((change) => {
        if (isTimeUp()) throw new NotPossible({ outcome: 'late' })
        return apply(index, change, stagedOf)
      })
    })
  } catch (error) {
    if (error instanceof NotPossible) return error.result
    throw error
  }
}
