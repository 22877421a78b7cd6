import { signal } from '@preact/signals'

/** Repeated reads of the same thing. Only the newest read counts. */
export const createNewestRead = () => {
  const isLoading = signal(false)
  const failure = signal<unknown>()
  let newest = 0
  return {
    isLoading,
    failure,
    /** Ignores the results of running reads. */
    drop() {
      newest++
    },
    /** After each wait, `work` must test whether its read is still the newest one. */
    async run(work: (isNewest: () => boolean) => Promise<void>): Promise<void> {
      const own = ++newest
      const isNewest = () => own === newest
      isLoading.value = true
      try {
        await work(isNewest)
      } catch (error) {
        if (isNewest()) failure.value = error
      }
      if (isNewest()) isLoading.value = false
    },
  }
}
