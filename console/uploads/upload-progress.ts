import { batch, type Signal } from '@preact/signals'
import type { createUploadList } from './upload-list.ts'
import { createRate } from './upload-rate.ts'

interface ProgressOptions {
  readonly list: Pick<ReturnType<typeof createUploadList>, 'get' | 'change'>
  readonly rate: Signal<number>
  /** In milliseconds of a monotonic clock. */
  readonly now: () => number
}

/** Records the bytes that were sent, and their rate. */
export const createProgress = ({ list: { get, change }, rate, now }: ProgressOptions) => {
  const speed = createRate()
  // All bytes that were sent since the page was opened, even those of removed uploads.
  let gone = 0

  const progress = (id: number, sent: number) => {
    const before = get(id)?.sent ?? 0
    gone += Math.max(0, sent - before)
    speed.note(now(), gone)
    batch(() => {
      rate.value = speed.value()
      change(id, { sent })
    })
  }

  return {
    progress,
    reset() {
      speed.reset()
      rate.value = 0
    },
  }
}
