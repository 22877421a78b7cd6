import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { Change } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import { chunksOf } from '../core/in-parallel.ts'
import { type History, sizeOf } from './history.ts'

// In bytes. The newest entries of a site stay in memory for all of its listeners, so that each entry is read once.
const mostRemembered = 128 * 1024
const mostAtOnce = 100
// The largest number of listeners that one turn of the event loop wakes. Other requests run between two turns.
const wokenAtOnce = 50
const pauseAfterFailure = 1_000

const createMemory = () => {
  let recent: readonly Change[] = []
  // `recent` has every entry after `start`, up to `newest`.
  let start = 0
  let newest = 0
  return {
    newest: () => newest,

    begin(position: number): void {
      start = position
      newest = position
    },

    add(news: readonly Change[]): void {
      const all = [...recent, ...news]
      let bytes = 0
      const tooMany = all.findLastIndex((change) => {
        bytes += sizeOf(change)
        return bytes > mostRemembered
      })
      start = all[tooMany]?.position ?? start
      newest = all.at(-1)?.position ?? newest
      recent = all.slice(tooMany + 1)
    },

    /** All entries after a position, or undefined if they are no longer in memory. */
    after(position: number): readonly Change[] | undefined {
      if (position < start) return undefined
      return recent.slice(recent.findLastIndex((change) => change.position <= position) + 1)
    },
  }
}

/** Reads the new entries of a site once for all of its listeners, when the history reports them (V-22, V-23). */
export const openSiteFeed = (history: History, site: SiteId) => {
  const memory = createMemory()
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
    memory.begin(last?.position ?? 0)
    isReading = false
    if (isStale) await readNews()
  }

  const stop = history.watch(site, () => void readNews())
  return {
    ready: begin(),
    history,
    newest: memory.newest,
    recentAfter: memory.after,

    /** Calls `wake` after new entries, and when the service stops, until the caller calls the returned function. */
    watch(wake: () => void): () => void {
      waiting.add(wake)
      return () => void waiting.delete(wake)
    },

    wakeAtOnce(): void {
      for (const wake of waiting) wake()
    },

    close(): void {
      isClosed = true
      stop()
      clearTimeout(retry)
    },
  }
}

export type SiteFeed = ReturnType<typeof openSiteFeed>
