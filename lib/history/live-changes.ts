import { setImmediate as yieldTurn } from 'node:timers/promises'
import { ServiceError } from '../core/errors.ts'
import type { Change } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import { chunksOf } from '../core/in-parallel.ts'
import { type ChangeFilter, type ChangePage, changesAfter, createPage, type History, sizeOf } from './history.ts'

// In bytes. The newest entries of a site stay in memory for all of its listeners, so that each entry is read once.
const mostRemembered = 128 * 1024
const mostAtOnce = 100
// The largest number of listeners that one turn of the event loop wakes. Other requests run between two turns.
const wokenAtOnce = 50
const pauseAfterFailure = 1_000

/** Has every entry after `start`, until it forgets the oldest entries. */
const createMemory = (start = 0) => {
  let recent: readonly Change[] = []
  let forgotten = start
  return {
    newest: () => recent.at(-1)?.position ?? forgotten,

    add(news: readonly Change[]): void {
      const all = [...recent, ...news]
      let bytes = 0
      const tooMany = all.findLastIndex((change) => {
        bytes += sizeOf(change)
        return bytes > mostRemembered
      })
      forgotten = all[tooMany]?.position ?? forgotten
      recent = all.slice(tooMany + 1)
    },

    after(position: number): readonly Change[] | undefined {
      if (position < forgotten) return undefined
      return recent.slice(recent.findLastIndex((change) => change.position <= position) + 1)
    },
  }
}

/** Reads the new entries of a site once for all of its listeners, when the history reports them (V-22, V-23). */
const openSiteFeed = (history: History, site: SiteId) => {
  let memory = createMemory()
  const waiting = new Set<() => void>()
  let isStale = false
  let isReading = true
  let isClosed = false
  let retry: NodeJS.Timeout | undefined

  const wakeAll = async (): Promise<void> => {
    for (const some of chunksOf([...waiting], wokenAtOnce)) {
      for (const wake of some) wake()
      await yieldTurn()
    }
  }

  const readNews = async (): Promise<void> => {
    isStale = true
    if (isReading) return
    isReading = true
    try {
      while (isStale) {
        isStale = false
        const news = await history.after(site, memory.newest(), mostAtOnce)
        if (news.length === 0) continue
        memory.add(news)
        await wakeAll()
        isStale ||= news.length === mostAtOnce
      }
    } catch {
      clearTimeout(retry)
      if (!isClosed) retry = setTimeout(readNews, pauseAfterFailure).unref()
    } finally {
      isReading = false
    }
  }

  const begin = async (): Promise<void> => {
    const [last] = await history.before(site, undefined, 1)
    memory = createMemory(last?.position)
    isReading = false
    if (isStale) await readNews()
  }

  const stop = history.watch(site, () => void readNews())
  return {
    ready: begin(),
    wakeAll,
    history,
    newest: () => memory.newest(),
    recentAfter: (position: number) => memory.after(position),

    /** Calls `wake` after new entries, and when the service stops, until the caller calls the returned function. */
    watch(wake: () => void): () => void {
      waiting.add(wake)
      return () => void waiting.delete(wake)
    },

    close(): void {
      isClosed = true
      stop()
      clearTimeout(retry)
    },
  }
}

type SiteFeed = ReturnType<typeof openSiteFeed>

export interface Listener extends Pick<SiteFeed, 'history' | 'recentAfter' | 'newest' | 'watch'>, Disposable {
  readonly isOver: () => boolean
}

export const createLiveChanges = (history: History, { perSite, inAll }: Record<'perSite' | 'inAll', number>) => {
  const feeds = new Map<SiteId, { readonly feed: SiteFeed; listeners: number }>()
  let total = 0
  let isClosed = false

  return {
    /** Undefined when too many requests listen already (V-24). Errors: unavailable, also when the service stops. */
    async listen(site: SiteId): Promise<Listener | undefined> {
      if (isClosed) throw new ServiceError('unavailable')
      if (total >= inAll || (feeds.get(site)?.listeners ?? 0) >= perSite) return undefined
      const shared = feeds.get(site) ?? { feed: openSiteFeed(history, site), listeners: 0 }
      feeds.set(site, shared)
      shared.listeners += 1
      total += 1
      using joining = new DisposableStack()
      joining.defer(() => {
        total -= 1
        shared.listeners -= 1
        if (shared.listeners > 0) return
        feeds.delete(site)
        shared.feed.close()
      })
      await shared.feed.ready
      const joined = joining.move()
      return { ...shared.feed, isOver: () => joined.disposed || isClosed, [Symbol.dispose]: () => joined.dispose() }
    },

    count: () => total,

    close() {
      isClosed = true
      for (const { feed } of feeds.values()) void feed.wakeAll()
    },
  }
}

export type LiveChanges = ReturnType<typeof createLiveChanges>

/** `filter` checks the caller again, and returns what the caller may read now (V-21). `now` is a monotonic clock. */
interface Wanted {
  readonly site: SiteId
  readonly limit: number
  readonly bytes?: number
  readonly filter: () => ChangeFilter | Promise<ChangeFilter>
  readonly now: () => number
}

interface News extends ChangePage {
  readonly next: number
}

/**
 * The wanted entries after a position, at once if possible. `next` is the position to continue from. Errors:
 * unavailable, those of the filter.
 */
export const readNews = (listener: Listener, wanted: Wanted, position: number): News | Promise<News> => {
  const { site, limit, bytes } = wanted
  const read = (filter: ChangeFilter): News | Promise<News> => {
    // The newest position may be ahead of the last entry that was read, because the entries between them may have
    // expired.
    const end = Math.max(position, listener.newest())
    const newsOf = ({ changes, next = end }: ChangePage): News => ({ changes, next })
    const recent = listener.recentAfter(position)
    if (!recent) return changesAfter(listener.history, site, position, limit, filter, bytes).then(newsOf)
    const page = createPage(limit, filter, bytes)
    page.add(recent)
    return newsOf(page.read())
  }
  const filter = wanted.filter()
  return filter instanceof Promise ? filter.then(read) : read(filter)
}

const untilChanged = async (listener: Listener, position: number, milliseconds: number): Promise<void> => {
  if (listener.isOver() || listener.newest() > position) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  const leave = listener.watch(resolve)
  await promise
  leave()
  clearTimeout(timer)
}

/** Waits at most `milliseconds` for a wanted entry after a position, then returns none. Errors: those of `readNews`. */
export const nextChanges = async (listener: Listener, wanted: Wanted, position: number, milliseconds: number) => {
  const end = wanted.now() + milliseconds
  for (let from = position; ; ) {
    const news = await readNews(listener, wanted, from)
    const left = end - wanted.now()
    if (news.changes.length > 0 || left <= 0 || listener.isOver()) return news
    from = news.next
    await untilChanged(listener, from, left)
  }
}
