import type { Readable } from 'node:stream'
import type { HistoryEntry } from '../../core/history-entry.ts'
import {
  type ByteRange,
  NotPlaced,
  type ObjectStore,
  type PlaceConditions,
  type RemovedFolder,
  type Staged,
} from '../../storage/object-store.ts'
import type { Database } from '../sqlite/database.ts'
import { batchesOf } from '../sqlite/paging.ts'
import type { RecordChange } from '../tables/history.ts'
import { createRemovalRecords } from '../tables/path-locks.ts'
import type { Blobs } from './blobs.ts'
import { createFingerprints } from './fingerprints.ts'
import { createObjectRows, endOf, infoOf, listObjects, type ObjectRow, type ObjectRows } from './object-rows.ts'
import { createOldObjects } from './old-objects.ts'
import { type AdoptedBlob, createStaging, placeChanges } from './placing.ts'
import { createVersions } from './versions.ts'

interface Deps {
  readonly database: Database
  readonly blobs: Blobs
  /** Asked within the transaction that puts something into one of the folders. */
  readonly isBeingRemoved: (unlocked: PlaceConditions['unlocked']) => boolean
  readonly record: RecordChange
  /** Bytes: smaller content is kept in the database. */
  readonly smallContent?: number
  /** Bytes of small content that wait in memory, for all requests together. */
  readonly mostWaiting?: number
  readonly now?: () => number
}

export interface LocalObjectStore extends ObjectStore {
  /** Stages an existing blob without a copy. It stays when it is not put in place. */
  adopt(blob: AdoptedBlob): Staged
  /** Gives up earlier states for good. `before` is in milliseconds since the epoch. */
  giveUp(before: number): Promise<void>
  stop(): Promise<void>
}

/** Objects in one transaction when several transactions may be used: nobody waits for long then. */
const removalStep = 200

/** Removes bytes that no row refers to any more. Answers the blobs to be removed after the transaction. */
const dropBytes = (rows: ObjectRows, name: string | null): readonly string[] =>
  name === null || rows.refersTo(name) || rows.dropContent(name) ? [] : [name]

const createBodies = ({ database, blobs, rows }: Pick<Deps, 'database' | 'blobs'> & { readonly rows: ObjectRows }) => {
  const contentOf = (blob: string) => database.read(() => rows.content(blob))

  /** Undefined when the bytes are missing, or have another size. */
  const bodyOf = async ({ blob, size }: ObjectRow, range: ByteRange): Promise<Readable | Uint8Array | undefined> => {
    if (blob === null) return undefined
    const content = await contentOf(blob)
    if (!content) return blobs.read(blob, size, range)
    return content.length === size ? content.subarray(range.first, range.last + 1) : undefined
  }

  const piecesOf = async (row: ObjectRow): Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>> => {
    const body = await bodyOf(row, { first: 0, last: row.size - 1 })
    if (!body) throw new Error(`The bytes of ${row.key} are missing: ${row.blob}`)
    return body instanceof Uint8Array ? [body] : body
  }

  return { bodyOf, piecesOf }
}

/** Reads a row once more when its bytes are gone: another process may have replaced them in between. */
const createRead =
  (database: Database, rows: ObjectRows, bodyOf: ReturnType<typeof createBodies>['bodyOf']): ObjectStore['read'] =>
  async (key, choose) => {
    for (let missing: string | undefined; ; ) {
      const row = await database.read(() => rows.get(key))
      if (!row) return undefined
      const info = infoOf(row)
      const range = choose(info)
      if (!range || range.last < range.first) return { info }
      const body = await bodyOf(row, range)
      if (body) return { info, body }
      if (missing === row.version) throw new Error(`The bytes of ${key} are missing: ${row.blob}`)
      missing = row.version
    }
  }

/**
 * An index in the database, which keeps small content as well, and a blob for the bytes of each larger object. Changes
 * that become visible together are one transaction. A crash leaves at most blobs that nothing refers to (`tidyBlobs`).
 */
export const createObjectStore = ({
  database,
  blobs,
  isBeingRemoved,
  record,
  smallContent = 16 * 1024,
  mostWaiting = 16 * 1024 * 1024,
  now = Date.now,
}: Deps): LocalObjectStore => {
  const rows = createObjectRows(database.connection)
  const old = createOldObjects(database.connection, now)
  const removalRecords = createRemovalRecords(database.connection, now)
  const staging = createStaging({ blobs, smallContent, mostWaiting })
  const placing = { rows, old, isBeingRemoved, record, stagedOf: staging.of }
  const { bodyOf, piecesOf } = createBodies({ database, blobs, rows })
  const fingerprints = createFingerprints({ database, rows, piecesOf, isBusy: staging.isBusy })

  const removeSome = (
    objects: Parameters<ObjectStore['remove']>[0],
    entry?: HistoryEntry,
    removedFolder?: RemovedFolder,
  ) =>
    database.write(() => {
      const since = removalRecords.now()
      const removed = objects.filter(({ key, version }) => {
        old.keepVersion(key, version)
        return rows.removeVersion(key, version)
      })
      if (removed.length === 0) return
      if (entry) record(entry)
      if (removedFolder) removalRecords.note({ ...removedFolder, since })
    })

  return {
    async find(key) {
      const row = await database.read(() => rows.get(key))
      return row && infoOf(row)
    },

    read: createRead(database, rows, bodyOf),
    exists: (prefix) => database.read(() => rows.isAny(prefix, endOf(prefix))),
    list: (query) => database.read(() => listObjects(rows, query)),
    fingerprintOf: fingerprints.of,
    stage: staging.stage,
    adopt: staging.adopt,

    async place(changes, conditions, entry) {
      try {
        await database.write(() => {
          const since = removalRecords.now()
          placeChanges(placing, changes, conditions, entry)
          if (conditions.removedFolder) removalRecords.note({ ...conditions.removedFolder, since })
        })
        for (const change of changes) {
          if (change.kind !== 'put') continue
          const placed = staging.placed(change.staged)
          if (placed?.fingerprint === null) fingerprints.makeLater({ key: change.key, version: placed.blob })
        }
        return { outcome: 'placed' }
      } catch (error) {
        if (error instanceof NotPlaced) return error.outcome
        throw error
      }
    },

    async remove(objects, entry, _, removedFolder) {
      const batches = entry ? [objects] : batchesOf(objects, removalStep)
      await Promise.all(batches.map((batch) => removeSome(batch, entry, removedFolder)))
    },

    ...createVersions({ database, rows, old, bodyOf }),

    async giveUp(before) {
      for (let count = removalStep; count === removalStep; ) {
        const given = await database.write(() => {
          const names = old.giveUp(before, removalStep)
          return { count: names.length, blobs: names.flatMap((name) => dropBytes(rows, name)) }
        })
        // The change is on the disk: the next start sets aside a blob that stays behind.
        await blobs.remove(given.blobs).catch(() => {})
        count = given.count
      }
    },

    stop: fingerprints.stop,
  }
}
