import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { inParallel } from '../core/in-parallel.ts'
import type { Site } from '../sites/site-directory.ts'
import type { Change, Expected, ObjectInfo, ObjectStore } from './object-store.ts'
import type { Upload } from './uploads/upload.ts'

export const quotaExceeded = (quota: number, used: number): ServiceError =>
  new ServiceError('quotaExceeded', {
    message:
      `The site has a quota of ${quota} bytes, and ${used} of them are in use. Nothing was changed. ` +
      'Remove files, cancel open uploads, or ask the operator for a larger quota.',
  })

/** The used bytes of sites, for operators. Errors: unavailable. */
export interface SiteUsage {
  /** Undefined while nothing counts them. */
  bytesOf(site: SiteId): Promise<number | undefined>
  /** Call it before a site gets a quota. `isNew`: it has no files. */
  prepare(site: SiteId, isNew: boolean): Promise<void>
}

interface Growth {
  readonly quota: number
  /** Negative for a change that makes a file smaller. */
  readonly bytes: number
  /** All bytes that the change puts anywhere: a running recount may list their old place too early. */
  readonly placed: number
}

/**
 * The port to the counts of used bytes where no transaction covers them and the files (AWS). A count may be too high
 * until the next recount, and is never too low. Errors of every call: unavailable.
 */
export interface UsageCounts extends SiteUsage {
  /** Call it before the change. Returns the epoch, which ends when a recount begins or ends. Errors: quotaExceeded. */
  reserve(site: SiteId, growth: Growth): Promise<number>
  /** Does nothing when the epoch is over, because the recount may have seen the change. Never repeated. */
  release(site: SiteId, bytes: number, epoch: number): Promise<void>
}

interface Reservation {
  readonly site: SiteId
  readonly epoch: number
}

export const createQuotas = (counts: UsageCounts, findSite: (id: SiteId) => Promise<Site | undefined>) => {
  const quotaOf = async (site: SiteId): Promise<number | undefined> => (await findSite(site))?.quota
  return {
    quotaOf,

    /** Undefined for a site without a quota. Errors: quotaExceeded, unavailable. */
    async reserve(site: SiteId, bytes: number, placed = bytes): Promise<Reservation | undefined> {
      const quota = await quotaOf(site)
      return quota === undefined ? undefined : { site, epoch: await counts.reserve(site, { quota, bytes, placed }) }
    },

    /** A failure leaves the count too high until the next recount. */
    async release(reservation: Reservation | undefined, bytes: number): Promise<void> {
      if (!reservation || bytes <= 0) return
      await counts.release(reservation.site, bytes, reservation.epoch).catch(() => {})
    },
  }
}

export type Quotas = ReturnType<typeof createQuotas>

/** An open upload counts with the bytes that it may take; without a length, with those that it has (S-122). */
export const bytesOfUpload = ({ length, offset }: Pick<Upload, 'length' | 'offset'>): number => length ?? offset

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

const placedBy = (change: Change): number => {
  if (change.kind === 'put') return change.staged.size
  if (change.kind === 'restore') return change.size
  return change.kind === 'move' || change.kind === 'copy' ? change.from.size : 0
}

const addedBy = (change: Change): number => {
  if (change.kind === 'put') return change.staged.size - (change.staged.reserved ?? 0)
  return change.kind === 'move' ? 0 : placedBy(change)
}

const replaces = (change: Change): boolean =>
  change.kind === 'put' || change.kind === 'remove' || (change.kind === 'restore' && !change.hiddenBy)

const looksAtOnce = 32

const findReplaced = async (files: ObjectStore, changes: readonly Change[]): Promise<readonly ObjectInfo[]> => {
  const found: ObjectInfo[] = []
  await inParallel(changes.filter(replaces), looksAtOnce, async ({ key }) => {
    const object = await files.find(key)
    if (object && object.size > 0) found.push(object)
  })
  return found
}

const mostAttempts = 3

/** Files that keep within the quota of their site. A site without one costs no call. */
export const limitFiles = (files: ObjectStore, quotas: Quotas): ObjectStore => {
  const placeWithin = async (
    replaced: readonly ObjectInfo[],
    [changes, conditions, entry]: Parameters<ObjectStore['place']>,
  ) => {
    const { matching = [], unlocked } = conditions
    const wanted = new Map(matching.map(({ key, version }) => [key, version]))
    // The bytes that a change replaces are known only if it may replace this state alone.
    const expected: readonly Expected[] = replaced.filter(({ key }) => !wanted.has(key))
    const freed = replaced.filter(({ key, version }) => !wanted.has(key) || wanted.get(key) === version)
    const added = sum(changes.map(addedBy)) - sum(freed.map(({ size }) => size))
    const reservation = await quotas.reserve(unlocked.site, added, sum(changes.map(placedBy)))
    const result = await files.place(changes, { ...conditions, matching: [...matching, ...expected] }, entry)
    await quotas.release(reservation, result.outcome === 'placed' ? -added : added)
    const isMissed = result.outcome === 'changed' && expected.some(({ key }) => key === result.key)
    return { result, isMissed }
  }

  return {
    ...files,

    async place(...[changes, conditions, entry]) {
      if ((await quotas.quotaOf(conditions.unlocked.site)) === undefined) return files.place(changes, conditions, entry)
      for (let attempt = 1; ; attempt++) {
        // While others keep replacing the file, its old bytes stay counted until the next recount.
        const replaced = attempt > mostAttempts ? [] : await findReplaced(files, changes)
        const { result, isMissed } = await placeWithin(replaced, [changes, conditions, entry])
        if (!isMissed) return result
      }
    },

    async remove(objects, ...options) {
      const site = Number(objects[0]?.key.split('/')[1]) as SiteId
      const reservation = objects.length > 0 ? await quotas.reserve(site, 0) : undefined
      const removed = await files.remove(objects, ...options)
      await quotas.release(reservation, removed)
      return removed
    },
  }
}
