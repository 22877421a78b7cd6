import { withCount } from '../../core/history-entry.ts'
import { chunksOf } from '../../core/in-parallel.ts'
import { createFingerprint, createStagedContents, fingerprintOf, partLength, readAhead } from '../../storage/content.ts'
import {
  longestListing,
  NotPlaced,
  type ObjectStore,
  type Staged,
  type StageTarget,
} from '../../storage/object-store.ts'
import type { Database } from '../sqlite/database.ts'
import { createQuotaCheck } from '../tables/directory-stores.ts'
import { createLockCheck, createRemovalRecords } from '../tables/path-locks.ts'
import { type Blobs, newName } from './blobs.ts'
import { createFingerprints } from './fingerprints.ts'
import { createNameIndex } from './name-index.ts'
import { createBodies, createObjectRows, endOf, infoOf, listObjects } from './object-rows.ts'
import { createOldObjects, createVersions } from './old-objects.ts'
import { type Placing, placeChanges, requireEmpty, type StagedBlob } from './placing.ts'

interface Deps extends Pick<Placing, 'record'> {
  readonly database: Database
  readonly blobs: Blobs
  /**
   * In bytes. For small content the database is faster than a file, and makes the content durable together with its
   * row.
   */
  readonly smallContent?: number
  /** In bytes, for all requests together. Beyond this, small content is written to blobs. */
  readonly mostWaiting?: number
  readonly now?: () => number
}

const createStaging = ({
  blobs,
  smallContent,
  mostWaiting,
}: Required<Pick<Deps, 'blobs' | 'smallContent' | 'mostWaiting'>>) => {
  const { reserve, keep, of, take } = createStagedContents<StagedBlob>(mostWaiting, ({ bytes }) => bytes !== undefined)
  let comingIn = 0

  const keepOnDisk = async (
    content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    contentType: string,
  ): Promise<Staged> => {
    const blob = newName()
    const making = createFingerprint()
    let size = 0
    async function* measured() {
      for await (const chunk of content) {
        size += chunk.length
        // A fingerprint of several parts is computed later.
        if (size <= partLength) making.update(chunk)
        yield chunk
      }
    }
    await blobs.write(blob, measured())
    const fingerprint = size > partLength ? null : making.digest()
    return keep({ blob, size, contentType, fingerprint }, () => blobs.remove([blob]))
  }

  return {
    of,
    take,
    adopt: (blob: StagedBlob): Staged => keep(blob),
    isBusy: () => comingIn > 0,

    async stage(content: AsyncIterable<Uint8Array>, { contentType }: StageTarget): Promise<Staged> {
      comingIn += 1
      try {
        const ahead = await readAhead(content, smallContent)
        if (!ahead.isWhole) return await keepOnDisk(ahead.content, contentType)
        const bytes = Buffer.concat(ahead.gathered, ahead.size)
        if (!reserve(bytes.length)) return await keepOnDisk([bytes], contentType)
        return keep({ blob: newName(), size: bytes.length, contentType, fingerprint: fingerprintOf(bytes), bytes })
      } finally {
        comingIn -= 1
      }
    },
  }
}

// The number of objects in one transaction, if the change may use several transactions. Other requests then wait only
// briefly.
const removalStep = 200

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
}: Deps) => {
  const rows = createObjectRows(database.connection)
  const removalRecords = createRemovalRecords(database.connection, now)
  const old = createOldObjects(database.connection, removalRecords.now)
  const changeWithinQuota = createQuotaCheck(database.connection, now)
  const staging = createStaging({ blobs, smallContent, mostWaiting })
  const isLocked = createLockCheck(database.connection)
  const placing = { rows, old, stagedBlob: staging.of, isLocked, record }
  const bodies = createBodies({ database, blobs, rows })
  const fingerprints = createFingerprints({ database, rows, bodies, isBusy: staging.isBusy })
  let isStopped = false
  let givingUp = Promise.resolve()

  const removeSome = (...[objects, { entry, removedFolder, step }]: Required<Parameters<ObjectStore['remove']>>) =>
    database.write(() => {
      const since = removalRecords.begin(removedFolder)
      const spared = new Set<string>()
      let bytes = 0
      for (const { key, version, size } of objects) {
        old.keep(key, true, version)
        if (rows.removeVersion(key, version)) bytes += size
        else spared.add(key)
      }
      requireEmpty(rows, removedFolder)
      if (spared.size === objects.length) return { bytes, spared }
      if (entry) record(entry)
      removalRecords.count(objects.length - spared.size, step)
      if (removedFolder) removalRecords.note({ ...removedFolder, since })
      return { bytes, spared }
    })

  const dropOld = async (take: () => readonly (string | null)[]) => {
    const dropped = await database.write(() => {
      const names = take()
      const unused = names.filter((name) => name !== null).filter((name) => !rows.refersTo(name))
      return { count: names.length, blobs: unused.filter((name) => !rows.dropContent(name)) }
    })
    // The change is on the disk. If a blob remains after a crash, the next start moves it to `orphans/`.
    await blobs.remove(dropped.blobs).catch(() => {})
    return dropped.count
  }

  const giveUpAll = async (before: number): Promise<void> => {
    for (let count = removalStep; count === removalStep && !isStopped; ) {
      count = await dropOld(() => old.giveUp(before, removalStep))
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
    makeFingerprint: fingerprints.makeLater,
    stage: staging.stage,
    /** Stages an existing blob without a copy. If the object is not placed, the blob stays. */
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
          if (placed?.fingerprint === null) fingerprints.makeLater(placed.blob)
        }
        return { outcome: 'placed' }
      } catch (error) {
        if (error instanceof NotPlaced) return error.outcome
        throw error
      }
    },

    async remove(objects, options = {}) {
      const batches = options.entry || options.removedFolder ? [objects] : chunksOf(objects, removalStep)
      try {
        const removals = await Promise.all(batches.map((batch) => removeSome(batch, options)))
        return {
          bytes: removals.reduce((sum, { bytes }) => sum + bytes, 0),
          spared: new Set(removals.flatMap(({ spared }) => [...spared])),
        }
      } catch (error) {
        if (error instanceof NotPlaced) return { bytes: 0, spared: new Set<string>(), isStale: true }
        throw error
      }
    },

    ...createVersions({ database, rows, old, bodies }),
    ...createNameIndex(database),

    async purge(versions, entry) {
      for (const some of chunksOf(versions, longestListing)) {
        await dropOld(() => {
          const names = old.purge(some)
          if (names.length > 0) record(withCount(entry, names.length))
          return names
        })
      }
      return 0
    },

    /** Removes old versions for good. `before` is in milliseconds since the epoch. */
    giveUp(before: number): Promise<void> {
      givingUp = giveUpAll(before)
      return givingUp
    },

    // The blobs of removed rows are removed before the store closes.
    async stop(): Promise<void> {
      isStopped = true
      await Promise.all([fingerprints.stop(), givingUp.catch(() => {})])
    },
  } satisfies ObjectStore & Readonly<Record<string, unknown>>
}

export type LocalObjectStore = ReturnType<typeof createObjectStore>
