import type { Readable } from 'node:stream'
import {
  type ByteRange,
  NotPlaced,
  type ObjectStore,
  type PlaceConditions,
  type Staged,
} from '../../storage/object-store.ts'
import type { Database } from '../sqlite/database.ts'
import { batchesOf } from '../sqlite/paging.ts'
import type { RecordChange } from '../tables/history.ts'
import type { Blobs } from './blobs.ts'
import { createFingerprints } from './fingerprints.ts'
import { createObjectRows, endOf, infoOf, listObjects, type ObjectRow, type ObjectRows } from './object-rows.ts'
import { createOldObjects } from './old-objects.ts'
import { type AdoptedBlob, createStaging, placeChanges } from './placing.ts'
import { createVersions } from './versions.ts'

interface Deps {
  readonly database: Database
  readonly blobs: Blobs
  /** Whether one of the folders is being removed. Asked within the transaction that puts something there. */
  readonly isGoing: (staying: PlaceConditions['staying']) => boolean
  readonly record: RecordChange
  /** In bytes: content up to this size is kept in the database, ... */
  readonly smallContent?: number
  /** ... and so much of it waits in memory at the most, that of all requests together. */
  readonly mostWaiting?: number
  /** The wall clock. */
  readonly now?: () => number
}

/** The object store of one machine, which goes on with something when requests have been answered. */
export interface LocalObjectStore extends ObjectStore {
  /** Stages a blob that is there already, without a copy. It stays when it is not put in place. */
  adopt(blob: AdoptedBlob): Staged
  /** Gives up for good what was replaced or removed before a moment, in milliseconds since the epoch. */
  giveUp(before: number): Promise<void>
  /** Lets what goes on in the background come to an end: soon. */
  stop(): Promise<void>
}

/** How many objects go in one transaction when more than one may be used: nobody waits for long then. */
const removalStep = 200

/** Removes the bytes that a row has left behind, unless another one refers to them. Answers the name of the blob that is to be removed after that. */
const dropBytes = (rows: ObjectRows, name: string | null): readonly string[] =>
  name === null || rows.refersTo(name) || rows.dropContent(name) ? [] : [name]

/**
 * The object store of one machine: an index in the database, which keeps small content as well, and a blob for the bytes of each larger object.
 * What becomes visible together is one transaction. A crash leaves at most blobs that nothing refers to (`tidyBlobs`).
 */
export const createObjectStore = ({
  database,
  blobs,
  isGoing,
  record,
  smallContent = 16 * 1024,
  mostWaiting = 16 * 1024 * 1024,
  now = Date.now,
}: Deps): LocalObjectStore => {
  const rows = createObjectRows(database.connection)
  const old = createOldObjects(database.connection, now)
  const staging = createStaging({ blobs, smallContent, mostWaiting })
  const placing = { rows, old, isGoing, record, stagedOf: staging.of }

  /** Undefined when the bytes are nowhere, or are not as many as there should be. */
  const bodyOf = async ({ blob, size }: ObjectRow, range: ByteRange): Promise<Readable | Uint8Array | undefined> => {
    if (blob === null) return undefined
    const content = await database.read(() => rows.content(blob))
    if (!content) return blobs.read(blob, size, range)
    return content.length === size ? content.subarray(range.first, range.last + 1) : undefined
  }

  const piecesOf = async ({ blob, size }: ObjectRow) => {
    if (blob === null) return []
    const content = await database.read(() => rows.content(blob))
    if (!content) return blobs.pieces(blob, size)
    if (content.length !== size) throw new Error(`The content ${blob} has ${content.length} bytes instead of ${size}`)
    return [content]
  }

  const fingerprints = createFingerprints({ database, rows, piecesOf, isBusy: staging.isBusy })

  /** A row is read once more when its bytes are gone: another process may have replaced them in between. */
  const read: ObjectStore['read'] = async (key, choose) => {
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

  /** The change is on the disk: a blob that stays behind all the same is set aside by the next start. */
  const removeBlobs = (names: readonly string[]) => blobs.remove(names).catch(() => {})

  return {
    async find(key) {
      const row = await database.read(() => rows.get(key))
      return row && infoOf(row)
    },

    read,

    exists: (prefix) => database.read(() => rows.isAny(prefix, endOf(prefix))),

    list: (query) => database.read(() => listObjects(rows, query)),

    fingerprintOf: fingerprints.of,

    stage: staging.stage,

    adopt: staging.adopt,

    async place(changes, conditions, entry) {
      try {
        await database.write(() => placeChanges(placing, changes, conditions, entry))
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

    async remove(objects, entry) {
      const all = entry ? [objects] : batchesOf(objects, removalStep)
      await Promise.all(
        all.map((some) =>
          database.write(() => {
            const removed = some.filter(({ key, version }) => {
              old.keepVersion(key, version)
              return rows.removeVersion(key, version)
            })
            if (entry && removed.length > 0) record(entry)
          }),
        ),
      )
    },

    ...createVersions({ database, rows, old, bodyOf }),

    async giveUp(before) {
      for (let count = removalStep; count === removalStep; ) {
        const given = await database.write(() => {
          const names = old.giveUp(before, removalStep)
          return { count: names.length, blobs: names.flatMap((name) => dropBytes(rows, name)) }
        })
        await removeBlobs(given.blobs)
        count = given.count
      }
    },

    stop: fingerprints.stop,
  }
}
