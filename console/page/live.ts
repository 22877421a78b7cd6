import { type ReadonlySignal, signal } from '@preact/signals'
import { type Change, ServiceError, type SiteClient } from '../../client/src/index.ts'
import { isRefused } from './session.ts'

// In milliseconds: a report contains the changes of `batchTime`. The other values are the shortest and the longest
// pause after a failure.
const batchTime = 500
const [shortest, longest] = [3000, 60_000]

export interface Live {
  readonly isOffline: ReadonlySignal<boolean>
  readonly reconnects: ReadonlySignal<number>
  /** Receives new changes, oldest first. Returns a function that unsubscribes. */
  subscribe(listener: (changes: readonly Change[]) => void): () => void
  follow(client: SiteClient): () => void
}

interface BrowserParts {
  readonly isVisible: () => boolean
  readonly onVisible: (listener: () => unknown) => () => void
  /** Calls the listener when the device has a network again. The stream of changes may not notice a short loss. */
  readonly onOnline: (listener: () => void) => void
}

/** The newest changes are reported again at the start, because a view may have read the site just before them. */
const overlap = 10

const findStart = async ({ changes }: SiteClient): Promise<string> => {
  const { items, next } = await changes.page({ limit: overlap })
  return next === undefined ? '' : (items.at(-1)?.id ?? next)
}

const isRefusal = ({ status }: ServiceError): boolean => status >= 400 && status < 500

/** Collects changes, so that many changes at once reload each view only once. */
const createBatch = (report: (changes: readonly Change[]) => void) => {
  let waiting: Change[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    const changes = waiting
    waiting = []
    report(changes)
  }
  return {
    add(change: Change) {
      waiting.push(change)
      timer ??= setTimeout(flush, batchTime)
    },
    clear: () => clearTimeout(timer),
  }
}

export const createLive = ({ isVisible, onVisible, onOnline }: BrowserParts): Live => {
  const listeners = new Set<(changes: readonly Change[]) => void>()
  const isOffline = signal(false)
  const reconnects = signal(0)
  let isStale = false
  const readAgain = () => {
    isStale = !isVisible()
    if (!isStale) reconnects.value++
  }
  onOnline(readAgain)
  onVisible(() => isStale && readAgain())

  const tell = (changes: readonly Change[]) => {
    if (changes.length > 0) for (const listener of listeners) listener(changes)
  }

  const setAway = (isAway: boolean) => {
    if (isOffline.value && !isAway) reconnects.value++
    isOffline.value = isAway
  }

  /** Returns false if only a new sign-in helps. The page then follows with another client. */
  const report = (error: unknown): boolean => {
    if (error instanceof ServiceError) setAway(!isRefusal(error))
    // The script that follows changes did not load, and a browser does not load it again. So the views only read the
    // site again from time to time.
    else reconnects.value++
    return !isRefused(error)
  }

  const follow = (client: SiteClient) => {
    const batch = createBatch(tell)
    let last: string | undefined
    let connection: AbortController | undefined

    const listen = async (signal: AbortSignal) => {
      last ??= await findStart(client)
      setAway(false)
      const onConnection = (failure?: ServiceError) => setAway(failure !== undefined && !isRefusal(failure))
      for await (const change of client.changes.follow({ after: last, signal, onConnection })) {
        last = change.id
        batch.add(change)
      }
    }

    const listenOn = async ({ signal }: AbortController) => {
      for (let failures = 1; !signal.aborted; failures++) {
        try {
          await listen(signal)
        } catch (error) {
          // The views show failures themselves. Here, a failure only makes the next wait longer.
          if (signal.aborted || !report(error)) return
        }
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, Math.min(longest, shortest * 2 ** failures))
          signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true })
        })
      }
    }

    const stop = () => {
      connection?.abort()
      connection = undefined
    }
    // A hidden page holds no connection, because browsers open only a few to a server.
    const adapt = () => {
      if (!isVisible()) return stop()
      if (connection) return
      connection = new AbortController()
      listenOn(connection)
    }

    const ignore = onVisible(adapt)
    adapt()
    return () => {
      stop()
      batch.clear()
      ignore()
      setAway(false)
    }
  }

  return {
    isOffline,
    reconnects,
    follow,
    subscribe(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
