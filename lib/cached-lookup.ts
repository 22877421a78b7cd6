import { LRUCache } from 'lru-cache'

interface Options {
  /** How long an answer may be used, in milliseconds. */
  readonly ttl: number
  /** How many answers are kept; the least recently used one goes first. */
  readonly max: number
  /** The clock, in milliseconds. */
  readonly now: () => number
}

/**
 * A lookup that remembers what it found. Simultaneous lookups of one key share one load.
 * What was not found is asked for anew each time: it may have come into being since.
 */
export const cachedLookup = <Key extends string | number, Value extends object>(
  load: (key: Key) => Promise<Value | undefined>,
  { ttl, max, now }: Options,
): ((key: Key) => Promise<Value | undefined>) => {
  const cache = new LRUCache<Key, Value>({ max, ttl, ttlResolution: 0, perf: { now }, fetchMethod: (key) => load(key) })
  return (key) => cache.fetch(key)
}
