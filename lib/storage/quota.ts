import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { findAll } from './many-objects.ts'
import type { Change, Expected, ObjectStore, PlaceOutcome } from './object-store.ts'

export const quotaExceeded = (quota: number, used: number): ServiceError =>
  new ServiceError('quotaExceeded', {
    message:
      `The site has a quota of ${quota} bytes, and ${used} of them are in use. Nothing was changed. Remove ` +
      'files, cancel open uploads, or ask the operator for a larger quota.',
  })

/**
 * Knows how many bytes each site uses. `bytesOf` is undefined while nothing counts the bytes. Call `prepare` before a
 * site gets or loses a quota, and `clear` when a site is removed. A new site has no files. Errors: unavailable.
 */
export interface SiteUsage {
  bytesOf(site: SiteId): Promise<number | undefined>
  prepare(site: SiteId, isNew: boolean): Promise<void>
  clear(site: SiteId): Promise<void>
}

/**
 * The port to the counts of used bytes where no transaction covers them and the files (AWS). Until the next recount, a
 * count may be too high; it is never too low (S-125). A change reserves the `bytes` that it adds, and gets the epoch,
 * which ends when a recount begins or ends. `placed` counts all bytes that a running recount may miss: those that get a
 * new key, and those of a replaced state, which comes back if the change is undone. A release is never repeated. It
 * takes back `bytes`, and `replaced` from the bytes that the recount may miss. After its epoch, a release does nothing,
 * because the recount may have seen the change. `undo` takes back the bytes of a change that failed. But a removal may
 * remove files that such a change made visible for a while, and only one of the two may subtract them. So after a removal
 * that has begun or ended since, `undo` takes nothing back, and adds the `lacking` bytes: those of visible files that the
 * change has not reserved, because it moves them or removes others. And after an `undo`, the release of a removal that began earlier does nothing. Errors: quotaExceeded,
 * unavailable.
 */
export interface UsageCounts {
  reserve(site: SiteId, quota: number, bytes: number, placed: number, isRemoval: boolean): Promise<Reservation>
  release(reservation: Reservation, bytes: number, replaced: number): Promise<void>
  undo(reservation: Reservation, bytes: number, lacking: number): Promise<void>
}

interface Reservation {
  readonly site: SiteId
  readonly epoch: number
  readonly removals: number | undefined
  readonly undone: number | undefined
  readonly isRecounting: boolean
}

type FindSite = (id: SiteId) => Promise<{ readonly quota?: number } | undefined>

/** A site without a quota has no reservations. If a release fails, the count stays too high until the next recount. */
export const createQuotas = (counts: UsageCounts, findSite: FindSite) => {
  const quotaOf = async (site: SiteId): Promise<number | undefined> => (await findSite(site))?.quota
  return {
    quotaOf,

    async reserve(site: SiteId, bytes: number, placed = bytes, isRemoval = false): Promise<Reservation | undefined> {
      const quota = await quotaOf(site)
      return quota === undefined ? undefined : counts.reserve(site, quota, bytes, placed, isRemoval)
    },

    async release(reservation: Reservation | undefined, bytes: number, replaced = 0): Promise<void> {
      if (!reservation || (bytes <= 0 && (replaced === 0 || !reservation.isRecounting))) return
      await counts.release(reservation, Math.max(bytes, 0), replaced).catch(() => {})
    },

    undo: (...failed: Parameters<UsageCounts['undo']>): Promise<void> => counts.undo(...failed).catch(() => {}),
  }
}

export type Quotas = ReturnType<typeof createQuotas>

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

const effectOf = (change: Change) => {
  switch (change.kind) {
    case 'put':
      return { placed: change.staged.size, moved: change.staged.reserved ?? 0, replaces: true }
    case 'restore':
      return { placed: change.size, moved: 0, replaces: !change.hiddenBy }
    case 'copy':
    case 'move':
      return { placed: change.from.size, moved: change.kind === 'move' ? change.from.size : 0, replaces: false }
    case 'folder':
    case 'remove':
      return { placed: 0, moved: 0, replaces: change.kind === 'remove' }
  }
}

const findRival = async (files: ObjectStore, keys: readonly string[]): Promise<string | undefined> => {
  const found = await Promise.all(keys.map((key) => (key.endsWith('/') ? files.exists(key) : files.find(key))))
  return keys.find((_, index) => found[index])
}

export const limitFiles = (files: ObjectStore, quotas: Quotas): ObjectStore => ({
  ...files,

  async place(changes, conditions, entry) {
    const { matching = [], unlocked } = conditions
    if ((await quotas.quotaOf(unlocked.site)) === undefined) return files.place(changes, conditions, entry)
    const effects = changes.map((change) => ({ key: change.key, ...effectOf(change) }))
    const replacing = effects.filter(({ replaces }) => replaces).map(({ key }) => key)
    const replaced = (await findAll(files, replacing)).filter(({ size }) => size > 0)
    const returning = sum(replaced.map(({ size }) => size))
    // The bytes of a replaced state count as free only if the change can replace this state and no other.
    const states = new Map([...replaced, ...matching].map(({ key, version }) => [key, version]))
    const freed = replaced.filter(({ key, version }) => states.get(key) === version)
    const placed = sum(effects.map(({ placed }) => placed))
    const moved = sum(effects.map(({ moved }) => moved))
    const added = placed - moved - sum(freed.map(({ size }) => size))
    const targets = new Set(effects.filter((one) => one.placed > 0).map(({ key }) => key))
    const overwritten = sum(freed.filter(({ key }) => targets.has(key)).map(({ size }) => size))
    const lacking = Math.max(placed - overwritten - Math.max(added, 0), 0)
    let reservation: Reservation | undefined
    try {
      // A completed upload moves bytes without taking a file away.
      const taken = [...replaced, ...changes.filter(({ kind }) => kind === 'move')]
      reservation = await quotas.reserve(unlocked.site, added, placed + returning, taken.length > 0)
    } catch (error) {
      // The error for a taken name comes before the error for the quota.
      const key = await findRival(files, conditions.absent)
      if (key === undefined) throw error
      return { outcome: 'occupied', key }
    }
    const expected = [...states].map(([key, version]): Expected => ({ key, version }))
    let result: PlaceOutcome | undefined
    try {
      result = await files.place(changes, { ...conditions, matching: expected }, entry)
      return result
    } finally {
      const known = result ? Math.max(added, 0) : 0
      if (result?.outcome === 'placed') await quotas.release(reservation, -added, returning)
      else if (reservation && known + lacking > 0) await quotas.undo(reservation, known, lacking)
    }
  },

  async remove(objects, options) {
    const site = Number(objects[0]?.key.split('/')[1]) as SiteId
    const reservation = objects.length > 0 ? await quotas.reserve(site, 0, 0, true) : undefined
    const removal = await files.remove(objects, options)
    await quotas.release(reservation, removal.bytes)
    return removal
  },
})
