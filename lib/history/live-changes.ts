import type { SiteId } from '../core/ids.ts'
import type { Change, History } from './history.ts'
import { type ChangeFilter, type ChangePage, changesAfter, createPage } from './list-changes.ts'
import { openSiteFeed, type SiteFeed } from './site-feed.ts'

/** A request that waits for new entries of a site. Dispose of it when the request ends. */
export interface Listener extends Disposable {
  readonly history: History
  /** All entries after a position, or undefined if they are no longer in memory. */
  recentAfter(position: number): readonly Change[] | undefined
  /** The position of the newest known entry, or 0. */
  readonly newest: () => number
  /** Resolves when the history has an entry after the position, when the time is up, or when the listener has ended. */
  changed(position: number, milliseconds: number): Promise<void>
  readonly isOver: () => boolean
}

export interface LiveChanges {
  /** Undefined when too many requests listen already (V-24). Errors: unavailable. */
  listen(site: SiteId): Promise<Listener | undefined>
  readonly count: () => number
  /** Ends all listeners, because the process stops. */
  close(): void
}

interface Limits {
  readonly perSite: number
  readonly inAll: number
}

const createListener = (feed: SiteFeed, isClosed: () => boolean, onEnd: () => void): Listener => {
  let hasEnded = false
  let wake = () => {}
  const isOver = () => hasEnded || isClosed()
  return {
    history: feed.history,
    recentAfter: feed.recentAfter,
    newest: feed.newest,
    isOver,

    async changed(position, milliseconds) {
      if (isOver() || feed.newest() > position) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, milliseconds)
      wake = resolve
      feed.waiting.add(resolve)
      await promise
      feed.waiting.delete(resolve)
      clearTimeout(timer)
    },

    [Symbol.dispose]() {
      if (hasEnded) return
      hasEnded = true
      wake()
      onEnd()
    },
  }
}

export const createLiveChanges = (history: History, { perSite, inAll }: Limits): LiveChanges => {
  const feeds = new Map<SiteId, { readonly feed: SiteFeed; listeners: number }>()
  let total = 0
  let isClosed = false

  const join = (site: SiteId): Listener => {
    const shared = feeds.get(site) ?? { feed: openSiteFeed(history, site), listeners: 0 }
    feeds.set(site, shared)
    shared.listeners += 1
    total += 1
    return createListener(
      shared.feed,
      () => isClosed,
      () => {
        total -= 1
        shared.listeners -= 1
        if (shared.listeners > 0) return
        feeds.delete(site)
        shared.feed.close()
      },
    )
  }

  return {
    async listen(site) {
      if (isClosed || total >= inAll || (feeds.get(site)?.listeners ?? 0) >= perSite) return undefined
      const listener = join(site)
      try {
        await feeds.get(site)?.feed.ready
        return listener
      } catch (error) {
        listener[Symbol.dispose]()
        throw error
      }
    },

    count: () => total,

    close() {
      isClosed = true
      for (const { feed } of feeds.values()) for (const wake of feed.waiting) wake()
    },
  }
}

interface Wanted {
  readonly site: SiteId
  readonly limit: number
  readonly bytes?: number
  /** Checks the caller again, and returns what it may read now (V-21). */
  readonly filter: () => ChangeFilter | Promise<ChangeFilter>
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

const readPage = async (
  { recentAfter, history }: Listener,
  { site, limit, bytes }: Wanted,
  position: number,
  filter: ChangeFilter,
): Promise<ChangePage> => {
  const recent = recentAfter(position)
  if (!recent) return changesAfter(history, site, position, limit, filter, bytes)
  const page = createPage(limit, filter, bytes)
  page.add(recent)
  return page.read()
}

/**
 * Waits for an entry after a position that fits the filter. After `milliseconds`, the page is empty. `next` is the
 * position to continue from. Errors: unavailable, those of the filter.
 */
export const nextChanges = async (
  listener: Listener,
  wanted: Wanted,
  position: number,
  milliseconds: number,
): Promise<ChangePage & { readonly next: number }> => {
  const end = wanted.now() + milliseconds
  for (let from = position; ; ) {
    const known = listener.newest()
    const filter = wanted.filter()
    const page = await readPage(listener, wanted, from, filter instanceof Promise ? await filter : filter)
    // Entries before `known` may have expired, so `known` may be ahead of the last entry that was read.
    from = page.next ?? Math.max(from, known)
    const left = end - wanted.now()
    if (page.changes.length > 0 || left <= 0 || listener.isOver()) return { changes: page.changes, next: from }
    if (page.next === undefined) await listener.changed(from, left)
  }
}
