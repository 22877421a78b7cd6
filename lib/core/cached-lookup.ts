/** Sets an entry. If the map then has more than `most` entries, drops the entry that was set longest ago. */
export const setRecent = <Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void => {
  // The key is deleted before it is set, so that the keys stay in the order of their age.
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}

/** The first call opens something. Later calls return the same. */
export const onDemand = <Opened>(open: () => Opened): (() => Opened) => {
  let opened: { readonly value: Opened } | undefined
  return () => {
    opened ??= { value: open() }
    return opened.value
  }
}

interface Answer<Value> {
  readonly value: Promise<Value | undefined>
  readonly until: number
  arrived?: Value
}

export interface CachedLookup<Key, Value> {
  (key: Key): Promise<Value | undefined>
  /** Also drops values that are still being loaded, because they may be as old as the stale ones. */
  forget(isStale: (value: Value) => boolean): void
}

/**
 * Simultaneous lookups of a key share one load. Absent values are not cached. `ttl` is in milliseconds. (A library
 * would add 18 KB to every cold start.)
 */
export const cachedLookup = <Key extends string | number, Value extends object>(
  load: (key: Key) => Promise<Value | undefined>,
  { ttl, max, now }: { readonly ttl: number; readonly max: number; readonly now: () => number },
): CachedLookup<Key, Value> => {
  const answers = new Map<Key, Answer<Value>>()

  const forget = (key: Key, answer: Answer<Value>) => {
    if (answers.get(key) === answer) answers.delete(key)
  }

  const ask = (key: Key): Promise<Value | undefined> => {
    const answer: Answer<Value> = { value: load(key), until: now() + ttl }
    setRecent(answers, key, answer, max)
    answer.value.then(
      (value) => {
        if (value === undefined) forget(key, answer)
        else answer.arrived = value
      },
      () => forget(key, answer),
    )
    return answer.value
  }

  const find = (key: Key): Promise<Value | undefined> => {
    const answer = answers.get(key)
    return answer && now() < answer.until ? answer.value : ask(key)
  }
  return Object.assign(find, {
    forget(isStale: (value: Value) => boolean) {
      for (const [key, { arrived }] of answers) if (arrived === undefined || isStale(arrived)) answers.delete(key)
    },
  })
}
