import { signal } from '@preact/signals'

/** After each wait, `work` must test whether its read is still the newest one. */
export type Work = (isNewest: () => boolean) => Promise<void>

/** Repeated reads of the same thing. Only the newest read counts. */
export const createNewestRead = () => {
  const isLoading = signal(false)
  const failure = signal<unknown>()
  let newest = 0
  let running = Promise.resolve()
  let following: Promise<void> | undefined

  const read = async (work: Work): Promise<void> => {
    const own = ++newest
    const isNewest = () => own === newest
    isLoading.value = true
    try {
      await work(isNewest)
    } catch (error) {
      if (isNewest()) failure.value = error
    }
    if (isNewest()) isLoading.value = false
  }

  const run = async (work: Work): Promise<void> => {
    following = undefined
    running = read(work)
    // A newer read replaces this one, and its result is what the caller waits for.
    for (let awaited: unknown; awaited !== running; await awaited) awaited = running
  }

  return {
    isLoading,
    failure,
    /** Ignores the results of running reads. */
    drop() {
      following = undefined
      newest++
    },
    run,
    /** Lets a running read end first, so that even frequent changes do not keep a long read from its end. */
    runLater(work: Work): Promise<void> {
      const next: Promise<void> = running.then(() => (following === next ? run(work) : undefined))
      following ??= next
      return following
    },
  }
}
