import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { findAll } from './many-objects.ts'
import type { Change, Expected, ObjectStore } from './object-store.ts'

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
 * because the recount may have seen the change. Errors: quotaExceeded, unavailable.
 */
export interface UsageCounts {
  reserve(site: SiteId, quota: number, bytes: number, placed: number): Promise<Omit<Reservation, 'site'>>
  release(site: SiteId, bytes: number, replaced: number, epoch: number): Promise<void>
}

interface Reservation {
  readonly site: SiteId
  readonly epoch: number
  readonly isRecounting: boolean
}

type FindSite = (id: SiteId) => Promise<{ readonly quota?: number } | undefined>

/** A site without a quota has no reservations. If a release fails, the count stays too high until the next recount. */
export const createQuotas = (counts: UsageCounts, findSite: FindSite) => {
  const quotaOf = async (site: SiteId): Promise<number | undefined> => (await findSite(site))?.quota
  return {
    quotaOf,

    async reserve(site: SiteId, bytes: number, placed = bytes): Promise<Reservation | undefined> {
      const quota = await quotaOf(site)
      return quota === undefined ? undefined : { site, ...(await counts.reserve(site, quota, bytes, placed)) }
    },

    async release(reservation: Reservation | undefined, bytes: number, replaced = 0): Promise<void> {
      if (!reservation || (bytes <= 0 && (replaced === 0 || !reservation.isRecounting))) return
      await counts.release(reservation.site, Math.max(bytes, 0), replaced, reservation.epoch).catch(() => {})
    },
  }
}

export type Quotas = ReturnType<typeof createQuotas>

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

const effectOf = (change: Change) => {
  switch (change.kind) {
    case 'put': {
      const { size, reserved = 0 } = change.staged
      return { placed: size, added: size - reserved, replaces: true }
    }
    case 'restore':
      return { placed: change.size, added: change.size, replaces: !change.hiddenBy }
    case 'copy':
      return { placed: change.from.size, added: change.from.size, replaces: false }
    case 'move':
      return { placed: change.from.size, added: 0, replaces: false }
    case 'folder':
      return { placed: 0, added: 0, replaces: false }
    case 'remove':
      return { placed: 0, added: 0, replaces: true }
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
    const present = await findAll(files, replacing)
    const replaced = present.filter(({ size }) => size > 0)
    const returning = sum(replaced.map(({ size }) => size))
    // The bytes of a replaced state count as free only if the change can replace this state and no other.
    const states = new Map([...replaced, ...matching].map(({ key, version }) => [key, version]))
    const freed = replaced.filter(({ key, version }) => states.get(key) === version)
    const added = sum(effects.map(({ added }) => added)) - sum(freed.map(({ size }) => size))
    let reservation: Reservation | undefined
    try {
      reservation = await quotas.reserve(unlocked.site, added, sum(effects.map(({ placed }) => placed)) + returning)
    } catch (error) {
      // The error for a taken name comes before the error for the quota.
      const key = await findRival(files, conditions.absent)
      if (key === undefined) throw error
      return { outcome: 'occupied', key }
    }
    const expected = [...states].map(([key, version]): Expected => ({ key, version }))
    const result = await files.place(changes, { ...conditions, matching: expected }, entry)
    const isPlaced = result.outcome === 'placed'
    await quotas.release(reservation, isPlaced ? -added : added, isPlaced ? returning : 0)
    return result
  },

  async remove(objects, ...options) {
    const site = Number(objects[0]?.key.split('/')[1]) as SiteId
    const reservation = objects.length > 0 ? await quotas.reserve(site, 0) : undefined
    const removal = await files.remove(objects, ...options)
    await quotas.release(reservation, removal.bytes)
    return removal
  },
})
