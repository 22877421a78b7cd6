import { withCount } from '../../core/history-entry.ts'
import { chunksOf } from '../../core/in-parallel.ts'
import { longestListing, NotPlaced, type ObjectStore, type Staged } from '../../storage/object-store.ts'
import type { Database } from '../sqlite/database.ts'
import { createQuotaCheck } from '../tables/directory-stores.ts'
import { createLockCheck, createRemovalRecords } from '../tables/path-locks.ts'
import type { Blobs } from './blobs.ts'
import { createFingerprints } from './fingerprints.ts'
import { createNameIndex } from './name-index.ts'
import { createBodies, createObjectRows, endOf, infoOf, listObjects, type ObjectRows } from './object-rows.ts'
import { createOldObjects, createVersions } from './old-objects.ts'
import { type Placing, placeChanges } from './placing.ts'
import { type AdoptedBlob, createStaging } from './staging.ts'

interface Deps extends Pick<Placing, 'record'> {
  readonly database: Database
  readonly blobs: Blobs
  /** In bytes: smaller content is kept in the database. */
  readonly smallContent?: number
  /** In bytes: the staged small content in memory, for all requests together. */
  readonly mostWaiting?: number
  readonly now?: () => number
}

export interface LocalObjectStore extends ObjectStore {
  /** Stages an existing blob without a copy. If the object is not placed, the blob stays. */
  adopt(blob: AdoptedBlob): Staged
  /** Removes old versions for good. `before` is in milliseconds since the epoch. */
  giveUp(before: number): Promise<void>
  stop(): Promise<void>
}

// The number of objects in one transaction, if the change may use several transactions. Other requests then wait only
// briefly.
const removalStep = 200

// Removes bytes that no row refers to any more. Returns the blobs to remove after the transaction.
const dropBytes = (rows: ObjectRows, name: string | null): readonly string[] =>
  name === null || rows.refersTo(name) || rows.dropContent(name) ? [] : [name]

interface Dropping extends Pick<Deps, 'database' | 'blobs'> {
  readonly rows: ObjectRows
}

// `take` removes rows of old versions, and returns where their bytes are.
const dropOld = async ({ database, blobs, rows }: Dropping, take: () => readonly (string | null)[]) => {
  const dropped = await database.write(() => {
    const names = take()
    return { count: names.length, blobs: names.flatMap((name) => dropBytes(rows, name)) }
  })
  // The change is on the disk. If a blob remains after a crash, the next start moves it to `orphans/`.
  await blobs.remove(dropped.blobs).catch(() => {})
  return dropped.count
}

/**
 * The rows and the small content are in the database. Each larger content is in a blob. Changes that become visible
 * together are one transaction. After a crash, only blobs that no row refers to can be left (`tidyBlobs`).
 */
export const createObjectStore = ({
  database,
  blobs,
  record,
  smallContent = 16 * 1024,
  mostWaiting = 16 * 1024 * 1024,
  now = Date.now,
}: Deps): LocalObjectStore => {
  const rows = createObjectRows(database.connection)
  const removalRecords = createRemovalRecords(database.connection, now)
  const old = createOldObjects(database.connection, removalRecords.now)
  const changeWithinQuota = createQuotaCheck(database.connection)
  const staging = createStaging({ blobs, smallContent, mostWaiting })
  const isLocked = createLockCheck(database.connection)
  const placing = { rows, old, staging, isLocked, record }
  const bodies = createBodies({ database, blobs, rows })
  const fingerprints = createFingerprints({ database, rows, bodies, staging })
  let isStopped = false
  let givingUp = Promise.resolve()

  const removeSome = (...[objects, entry, , removedFolder]: Parameters<ObjectStore['remove']>) =>
    database.write(() => {
      const since = removalRecords.begin(removedFolder)
      const spared = new Set<string>()
      let bytes = 0
      for (const { key, version, size } of objects) {
        old.keepVersion(key, version)
        if (rows.removeVersion(key, version)) bytes += size
        else spared.add(key)
      }
      if (spared.size === objects.length) return { bytes, spared }
      if (entry) record(entry)
      if (removedFolder) removalRecords.note({ ...removedFolder, since })
      return { bytes, spared }
    })

  const giveUpAll = async (before: number): Promise<void> => {
    for (let count = removalStep; count === removalStep && !isStopped; ) {
      count = await dropOld({ database, blobs, rows }, () => old.giveUp(before, removalStep))
    }
  }

  return {
    async find(key) {
      const row = await database.read(() => rows.get(key))
      return row && infoOf(row)
    },

    read: (key, choose) => bodies.read(() => rows.get(key), choose, key),
    exists: (prefix) => database.read(() => rows.isAny(prefix, endOf(prefix))),
    list: (query) => database.read(() => listObjects(rows, query), query.limit),
    fingerprintOf: fingerprints.of,
    stage: staging.stage,
    adopt: staging.adopt,

    async place(changes, conditions, entry) {
      try {
        await database.write(() => {
          const since = removalRecords.begin()
          changeWithinQuota(conditions.unlocked.site, () => placeChanges(placing, changes, conditions, entry))
          if (conditions.removedFolder) removalRecords.note({ ...conditions.removedFolder, since })
        })
        for (const change of changes) {
          if (change.kind !== 'put') continue
          const placed = staging.take(change.staged)
          if (placed?.fingerprint === null) fingerprints.makeLater({ key: change.key, version: placed.blob })
        }
        return { outcome: 'placed' }
      } catch (error) {
        if (error instanceof NotPlaced) return error.outcome
        throw error
      }
    },

    async remove(objects, entry, _, removedFolder) {
      const batches = entry ? [objects] : chunksOf(objects, removalStep)
      const removals = await Promise.all(batches.map((batch) => removeSome(batch, entry, undefined, removedFolder)))
      return {
        bytes: removals.reduce((sum, { bytes }) => sum + bytes, 0),
        spared: new Set(removals.flatMap(({ spared }) => [...spared])),
      }
    },

    ...createVersions({ database, rows, old, bodies }),
    ...createNameIndex(database),

    async purge(versions, entry) {
      for (const some of chunksOf(versions, longestListing)) {
        await dropOld({ database, blobs, rows }, () => {
          const names = old.purge(some)
          if (names.length > 0) record(withCount(entry, names.length))
          return names
        })
      }
      return 0
    },

    giveUp(before) {
      givingUp = giveUpAll(before)
      return givingUp
    },

    // The blobs of removed rows are removed before the store closes.
    async stop() {
      isStopped = true
      await Promise.all([fingerprints.stop(), givingUp.catch(() => {})])
    },
  }
}
