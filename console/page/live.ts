import { type ReadonlySignal, signal } from '@preact/signals'
import { type Change, ServiceError, type SiteClient } from '../../client/src/index.ts'

// In milliseconds: the time between two requests while the page is visible, and the longest time after failures.
const period = 3000
const longest = 60_000

export interface Live {
  readonly isOffline: ReadonlySignal<boolean>
  readonly reconnects: ReadonlySignal<number>
  /** Receives new changes, oldest first. Returns a function that unsubscribes. */
  subscribe(listener: (changes: readonly Change[]) => void): () => void
  follow(client: SiteClient): () => void
}

interface BrowserParts {
  readonly isVisible: () => boolean
  readonly onVisible: (listener: () => void) => () => void
}

/** The newest changes are reported again at the start, because a view may have read the site just before them. */
const overlap = 10

/** The first call only finds the current end of the history. */
const createReader = ({ changes }: SiteClient) => {
  let last: string | undefined
  return async (): Promise<readonly Change[]> => {
    if (last === undefined) {
      const newest = await changes.newest(overlap)
      last = newest.length < overlap ? '' : (newest[0]?.id ?? '')
      return []
    }
    const found: Change[] = []
    for await (const change of changes.list({ after: last })) found.push(change)
    last = found.at(-1)?.id ?? last
    return found
  }
}

export const createLive = ({ isVisible, onVisible }: BrowserParts): Live => {
  const listeners = new Set<(changes: readonly Change[]) => void>()
  const isOffline = signal(false)
  const reconnects = signal(0)

  const tell = (changes: readonly Change[]) => {
    if (changes.length > 0) for (const listener of listeners) listener(changes)
  }

  const setAway = (isAway: boolean) => {
    if (isOffline.value && !isAway) reconnects.value++
    isOffline.value = isAway
  }

  const follow = (client: SiteClient) => {
    const read = createReader(client)
    let timer: ReturnType<typeof setTimeout> | undefined
    let failures = 0
    let isAsking = false
    let hasEnded = false

    const ask = async () => {
      clearTimeout(timer)
      if (isAsking || hasEnded || !isVisible()) return
      isAsking = true
      try {
        const changes = await read()
        failures = 0
        if (!hasEnded) tell(changes)
        setAway(false)
      } catch (error) {
        // The views show failures themselves. Here, a failure only makes the next wait longer.
        failures++
        setAway(!(error instanceof ServiceError && error.status >= 400 && error.status < 500))
      }
      isAsking = false
      if (!hasEnded) timer = setTimeout(ask, Math.min(longest, period * 2 ** failures))
    }

    const ignore = onVisible(ask)
    ask()
    return () => {
      hasEnded = true
      clearTimeout(timer)
      ignore()
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
