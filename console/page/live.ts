import { type ReadonlySignal, signal } from '@preact/signals'
import { type Change, ServiceError, type SiteClient } from '../../client/src/index.ts'

// Milliseconds between two requests while the page is visible, and their limit after failures.
const period = 3000
const longest = 60_000

/** The changes of the site while the page is visible. */
export interface Live {
  /** The service has not answered the last time. */
  readonly isOffline: ReadonlySignal<boolean>
  /** Counts how often the service has come back. */
  readonly returns: ReadonlySignal<number>
  /** Told the changes since the last time, the oldest first. Ends with what is given back. */
  subscribe(listener: (changes: readonly Change[]) => void): () => void
  /** Begins to ask; ends with what is given back. */
  follow(client: SiteClient): () => void
}

// The used part of the browser, which tests replace.
interface Surroundings {
  readonly isVisible: () => boolean
  /** Told when the page becomes visible. */
  readonly onVisible: (listener: () => void) => () => void
}

/**
 * So many changes are told again after the first look: a view may have read the site just before one of them was made.
 */
const overlap = 10

/** Reads what has changed since the time before; the first time, only where the history stands. */
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

export const createLive = ({ isVisible, onVisible }: Surroundings): Live => {
  const listeners = new Set<(changes: readonly Change[]) => void>()
  const isOffline = signal(false)
  const returns = signal(0)

  const tell = (changes: readonly Change[]) => {
    if (changes.length > 0) for (const listener of listeners) listener(changes)
  }

  const tellAway = (isAway: boolean) => {
    if (isOffline.value && !isAway) returns.value++
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
        tellAway(false)
      } catch (error) {
        // Views say themselves what fails. Here it is only asked more seldom.
        failures++
        tellAway(!(error instanceof ServiceError && error.status >= 400 && error.status < 500))
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
    returns,
    follow,
    subscribe(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
