/** Keys that one holder at a time may change. */
export interface KeyLocks {
  /** Waits until none of the keys is held, takes all of them at once, and answers how to let go of them. */
  take(keys: readonly string[]): Promise<() => void>
}

/** All keys are taken together or not at all, so holders can never wait for each other in a circle. */
export const createKeyLocks = (): KeyLocks => {
  const held = new Set<string>()
  let released = Promise.withResolvers<void>()

  return {
    async take(keys) {
      while (keys.some((key) => held.has(key))) await released.promise
      for (const key of keys) held.add(key)
      return () => {
        for (const key of keys) held.delete(key)
        released.resolve()
        released = Promise.withResolvers()
      }
    },
  }
}
