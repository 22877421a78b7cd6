interface Options {
  /** How long an answer may be used, in milliseconds from when it was asked for. */
  readonly ttl: number
  /** How many answers are kept; the oldest one goes first. */
  readonly max: number
  /** The clock, in milliseconds. */
  readonly now: () => number
}

interface Answer<Value> {
  readonly value: Promise<Value | undefined>
  readonly until: number
}

/**
 * A lookup that remembers what it found. Simultaneous lookups of one key share one load.
 * What was not found is asked for anew each time: it may have come into being since.
 * (A cache library adds 18 KB and a millisecond to every cold start, for an order of eviction that one age for all does not need.)
 */
export const cachedLookup = <Key extends string | number, Value extends object>(
  load: (key: Key) => Promise<Value | undefined>,
  { ttl, max, now }: Options,
): ((key: Key) => Promise<Value | undefined>) => {
  const answers = new Map<Key, Answer<Value>>()

  const forget = (key: Key, answer: Answer<Value>) => {
    if (answers.get(key) === answer) answers.delete(key)
  }

  const ask = (key: Key): Promise<Value | undefined> => {
    const answer: Answer<Value> = { value: load(key), until: now() + ttl }
    // Deleted first, so that the keys stay in the order of their age.
    answers.delete(key)
    answers.set(key, answer)
    const [oldest] = answers.keys()
    if (answers.size > max && oldest !== undefined) answers.delete(oldest)
    answer.value.then(
      (value) => {
        if (value === undefined) forget(key, answer)
      },
      () => forget(key, answer),
    )
    return answer.value
  }

  return (key) => {
    const answer = answers.get(key)
    return answer && now() < answer.until ? answer.value : ask(key)
  }
}
