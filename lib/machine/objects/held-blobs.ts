import type { Blobs } from './blobs.ts'

interface Options {
  /** Whether a backup needs every blob that there is. Asked when nothing in the database refers to the blob any more. */
  readonly isHeld: () => boolean
}

/** How often it is seen whether the backup has ended, in milliseconds. */
const interval = 10_000

/**
 * Blobs that are removed when no backup needs them any more. What a process has not removed when it ends is set aside by the next start of the
 * service, as everything is that nothing refers to.
 */
export const holdForBackups = (blobs: Blobs, { isHeld }: Options): Blobs => {
  const waiting = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  /** What cannot be asked now is asked again. */
  const mayRemove = (): boolean => {
    try {
      return !isHeld()
    } catch {
      return false
    }
  }

  const removeWaiting = async (): Promise<void> => {
    if (waiting.size === 0 || !mayRemove()) return
    clearInterval(timer)
    timer = undefined
    const names = [...waiting]
    waiting.clear()
    await blobs.remove(names)
  }

  return {
    ...blobs,

    async remove(names) {
      for (const name of names) waiting.add(name)
      await removeWaiting()
      if (waiting.size > 0) timer ??= setInterval(() => void removeWaiting().catch(() => {}), interval).unref()
    },

    close() {
      clearInterval(timer)
      blobs.close()
    },
  }
}
