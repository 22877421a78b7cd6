import { randomUUID } from 'node:crypto'

interface UploadName {
  readonly token: string
  readonly id: string
}

/**
 * The port to the progress of each token's newest upload, for a day. It may be lost with the machine. Errors of every
 * call: unavailable.
 */
export interface UploadProgress {
  /** Makes this the token's newest upload, at 0 %, regardless of clocks. */
  begin(upload: UploadName): Promise<void>
  /** Progress never decreases, and never changes that of another upload. */
  report(upload: UploadName, percent: number): Promise<void>
  /** 0 to 100; 0 when the token has not uploaded within a day. */
  percentOf(token: string): Promise<number>
}

// Milliseconds between writes: at most four in a second with the last one (S-90).
const interval = 334

interface Options {
  readonly progress: UploadProgress
  readonly token: string
  readonly id?: string
  /** Bytes. Undefined keeps the progress at 0 until the end (S-88). */
  readonly total: number | undefined
  readonly already?: number
  readonly now: () => number
}

const percentAt = (received: number, total: number): number => Math.min(Math.floor((received / total) * 100), 99)

export const startProgress = ({ progress, token, id = randomUUID(), total, already = 0, now }: Options) => {
  const upload = { token, id }
  let received = already
  let reported = 0
  let reportedAt = now()
  let isWriting = true
  let hasEnded = false

  // Writes run one after the other, so that none overtakes another.
  const settled = (write: Promise<void>): Promise<void> =>
    write
      .catch(() => {})
      .then(() => {
        isWriting = false
        reportIfDue()
      })
  let writing = settled(progress.begin(upload))

  const write = (percent: number): void => {
    reported = percent
    reportedAt = now()
    isWriting = true
    writing = settled(writing.then(() => progress.report(upload, percent)))
  }

  const reportIfDue = (): void => {
    if (!total || isWriting || hasEnded || now() - reportedAt < interval) return
    const percent = percentAt(received, total)
    if (percent > reported) write(percent)
  }

  return {
    advance(bytes: number): void {
      received += bytes
      reportIfDue()
    },

    /**
     * Waits for the upload and reports its end, or, without `isWhole`, its pause. A failure leaves the last progress.
     */
    async follow<Result>(upload: Promise<Result>, isWhole: (result: Result) => boolean = () => true): Promise<Result> {
      try {
        const result = await upload
        if (isWhole(result)) write(100)
        else if (total) write(percentAt(received, total))
        return result
      } finally {
        hasEnded = true
        await writing
      }
    },
  }
}
