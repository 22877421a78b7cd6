import type { SiteId } from '../core/ids.ts'
import type { History } from './history.ts'
import { type ChangeFilter, type ChangePage, changesAfter } from './list-changes.ts'
import { openSiteFeed, type SiteFeed } from './site-feed.ts'

/** A request that waits for new entries of a site. Dispose of it when the request ends. */
export interface Listener extends Pick<History, 'after'>, Disposable {
  /** The position of the newest known entry, or 0. */
  readonly newest: () => number
  /** Resolves when there is an entry after the position, after some milliseconds, or when the listener is over. */
  changed(position: number, milliseconds: number): Promise<void>
  readonly isOver: () => boolean
}

export interface LiveChanges {
  /** Undefined when too many requests listen already (V-24). Errors: unavailable. */
  listen(site: SiteId): Promise<Listener | undefined>
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
    after: feed.after,
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

    close() {
      isClosed = true
      for (const { feed } of feeds.values()) feed.wakeAll()
    },
  }
}

interface Wanted {
  readonly site: SiteId
  readonly limit: number
  readonly bytes?: number
  /** Checks the caller again, and returns what it may read now (V-21). */
  readonly filter: () => Promise<ChangeFilter>
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

/**
 * Waits until there are wanted entries after a position. After `milliseconds`, the page is empty. `next` is the position
 * to continue from. Errors: unavailable, those of the filter.
 */
export const nextChanges = async (
  listener: Listener,
  { site, limit, bytes, filter, now }: Wanted,
  position: number,
  milliseconds: number,
): Promise<ChangePage & { readonly next: number }> => {
  const end = now() + milliseconds
  for (let from = position; ; ) {
    const known = listener.newest()
    const { changes, next } = await changesAfter(listener, site, from, limit, await filter(), bytes)
    // Entries that expire may be missing between the position and the newest entry.
    from = next ?? Math.max(from, known)
    const left = end - now()
    if (changes.length > 0 || left <= 0 || listener.isOver()) return { changes, next: from }
    if (next === undefined) await listener.changed(from, left)
  }
}
