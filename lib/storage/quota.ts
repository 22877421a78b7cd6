import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { findAll } from './many-objects.ts'
import type { Change, Expected, ObjectInfo, ObjectStore } from './object-store.ts'

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
 * A change reserves all `bytes` that it may make visible, because a removal may subtract them before the store undoes
 * the change. The quota refuses only the `limited` ones (default: all). The others are those of moved files and
 * completed uploads, and of files beside smaller ones. `placed` counts all bytes that a running recount may miss: those
 * that get a new key, and those of a replaced state, which comes back if the change is undone.
 */
export interface Reserved {
  readonly bytes: number
  readonly limited?: number
  readonly placed?: number
  readonly isRemoval?: boolean
}

/**
 * The port to the counts of used bytes where no transaction covers them and the files (AWS). Until the next recount, a
 * count may be too high; it is never too low (S-125). Errors: quotaExceeded, unavailable.
 */
export interface UsageCounts {
  reserve(site: SiteId, quota: number, reserved: Reserved): Promise<Reservation>
}

/**
 * Lasts until a recount begins or ends. After that, its calls take nothing back, because the recount may have seen the
 * change. If a call fails, the count stays too high until the next recount. `release` takes back `bytes`, and takes
 * `replaced` from the bytes that a recount may miss. `undo` takes back the bytes of a change that failed. But a removal
 * may remove files that such a change made visible for a while, and only one of the two may subtract them. So after a
 * removal that has begun or ended since, `undo` takes nothing back. And after an `undo`, the release of a removal that
 * began earlier does nothing.
 */
export interface Reservation {
  release(bytes: number, replaced?: number): Promise<void>
  undo(bytes: number): Promise<void>
}

type FindSite = (id: SiteId) => Promise<{ readonly quota?: number } | undefined>

export const createQuotas = (counts: UsageCounts, findSite: FindSite) => {
  const quotaOf = async (site: SiteId): Promise<number | undefined> => (await findSite(site))?.quota
  return {
    quotaOf,

    async reserve(site: SiteId, reserved: Reserved): Promise<Reservation | undefined> {
      const quota = await quotaOf(site)
      return quota === undefined ? undefined : counts.reserve(site, quota, reserved)
    },
  }
}

export type Quotas = ReturnType<typeof createQuotas>

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

// `placed` bytes become visible, and the quota counts `moved` of them already.
const effectOf = (change: Change) => {
  const { kind } = change
  if (kind === 'folder' || kind === 'remove') return { placed: 0, moved: 0, mayReplace: kind === 'remove' }
  if (kind === 'put') return { placed: change.staged.size, moved: change.staged.reserved ?? 0, mayReplace: true }
  if (kind === 'restore') return { placed: change.size, moved: 0, mayReplace: !change.hiddenBy }
  const { size } = change.from
  return { placed: size, moved: kind === 'move' ? size : 0, mayReplace: false }
}

const findRival = async (files: ObjectStore, keys: readonly string[]): Promise<string | undefined> => {
  const found = await Promise.all(keys.map((key) => (key.endsWith('/') ? files.exists(key) : files.find(key))))
  return keys.find((_, index) => found[index])
}

/** The bytes that changes reserve, and the `difference` that they make to the count. It may be below zero. */
const accountOf = (changes: readonly Change[], present: readonly ObjectInfo[], matching: readonly Expected[]) => {
  const replaced = present.filter(({ size }) => size > 0)
  // The bytes of a replaced state count as free only if the change can replace this state and no other.
  const states = new Map([...replaced, ...matching].map((state) => [state.key, state]))
  const exact = replaced.filter(({ key, version }) => states.get(key)?.version === version)
  const freed = new Map(exact.map(({ key, size }) => [key, size]))
  const effects = changes.map((change) => ({ ...effectOf(change), freed: freed.get(change.key) ?? 0 }))
  const placed = sum(effects.map(({ placed }) => placed))
  const difference = sum(effects.map(({ placed, moved, freed }) => placed - moved - freed))
  const returning = sum(replaced.map(({ size }) => size))
  const reserved = {
    bytes: sum(effects.map(({ placed, freed }) => Math.max(placed - freed, 0))),
    limited: Math.max(difference, 0),
    placed: placed + returning,
    // A completed upload moves bytes without taking a file away.
    isRemoval: replaced.length > 0 || changes.some(({ kind }) => kind === 'move'),
  }
  return { matching: [...states.values()], reserved, difference, returning }
}

export const limitFiles = (files: ObjectStore, quotas: Quotas): ObjectStore => ({
  ...files,

  async place(changes, conditions, entry) {
    const { site } = conditions.unlocked
    if ((await quotas.quotaOf(site)) === undefined) return files.place(changes, conditions, entry)
    const replaceable = changes.filter((change) => effectOf(change).mayReplace).map(({ key }) => key)
    const present = await findAll(files, replaceable)
    const { matching, reserved, difference, returning } = accountOf(changes, present, conditions.matching ?? [])
    let reservation: Reservation | undefined
    try {
      reservation = await quotas.reserve(site, reserved)
    } catch (error) {
      // The error for a taken name comes before the error for the quota.
      const key = await findRival(files, conditions.absent)
      if (key === undefined) throw error
      return { outcome: 'occupied', key }
    }
    // If this fails, the changes may have been made, so their bytes stay counted.
    const result = await files.place(changes, { ...conditions, matching }, entry)
    if (result.outcome === 'placed') await reservation?.release(reserved.bytes - difference, returning)
    else await reservation?.undo(reserved.bytes)
    return result
  },

  async remove(objects, options) {
    const site = Number(objects[0]?.key.split('/')[1]) as SiteId
    const reservation = objects.length > 0 ? await quotas.reserve(site, { bytes: 0, isRemoval: true }) : undefined
    const removal = await files.remove(objects, options)
    await reservation?.release(removal.bytes)
    return removal
  },
})
