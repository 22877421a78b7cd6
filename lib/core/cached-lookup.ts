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

interface Answer<Found> {
  readonly value: Promise<Found>
  readonly until: number
  arrived?: NonNullable<Found>
}

export interface CachedLookup<Key, Found> {
  (key: Key): Promise<Found>
  /** Also drops values that are still being loaded, because they may be as old as the stale ones. */
  forget(isStale: (value: NonNullable<Found>) => boolean): void
}

const always = { ttl: Number.POSITIVE_INFINITY, max: Number.POSITIVE_INFINITY, now: Date.now }

/**
 * Simultaneous lookups of a key share one load. Failures and absent values are not cached. `ttl` is in milliseconds, and
 * has no end by default. (A library would add 18 KB to every cold start.)
 */
export const cachedLookup = <Key extends string | number, Found extends object | undefined>(
  load: (key: Key) => Promise<Found>,
  { ttl, max, now }: Readonly<typeof always> = always,
): CachedLookup<Key, Found> => {
  const answers = new Map<Key, Answer<Found>>()

  const forget = (key: Key, answer: Answer<Found>) => {
    if (answers.get(key) === answer) answers.delete(key)
  }

  const ask = (key: Key): Promise<Found> => {
    const answer: Answer<Found> = { value: load(key), until: now() + ttl }
    setRecent(answers, key, answer, max)
    answer.value.then(
      (value) => {
        if (value) answer.arrived = value
        else forget(key, answer)
      },
      () => forget(key, answer),
    )
    return answer.value
  }

  const find = (key: Key): Promise<Found> => {
    const answer = answers.get(key)
    return answer && now() < answer.until ? answer.value : ask(key)
  }
  return Object.assign(find, {
    forget(isStale: (value: NonNullable<Found>) => boolean) {
      for (const [key, { arrived }] of answers) if (arrived === undefined || isStale(arrived)) answers.delete(key)
    },
  })
}
