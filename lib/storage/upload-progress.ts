import { randomUUID } from 'node:crypto'

interface UploadName {
  readonly token: string
  readonly id: string
}

export const progressKeptFor = 24 * 3600 * 1000

/**
 * The port to the progress of each token's newest upload, kept for a day. Progress may be lost with the machine. Errors
 * of every call: unavailable.
 */
export interface UploadProgress {
  /**
   * Makes this upload the token's newest one, even if the clocks disagree. A repeated call for the newest upload
   * changes nothing.
   */
  begin(upload: UploadName, percent: number): Promise<void>
  /** Progress never decreases. A call never changes the progress of another upload. */
  report(upload: UploadName, percent: number): Promise<void>
  /** Returns a number from 0 to 100. Returns 0 when the token has not uploaded within a day. */
  percentOf(token: string): Promise<number>
}

// S-90, in milliseconds. Two writes are `interval` apart: with the last write, a second has at most four writes. A
// request that takes less time than `untilBegin` writes its progress only once, at its end.
const interval = 334
const untilBegin = 500

interface Options {
  readonly progress: UploadProgress
  readonly token: string
  readonly id?: string | undefined
  /** In bytes. If undefined, the progress stays at 0 until the end (S-88). */
  readonly total: number | undefined
  readonly already?: number
  readonly isContinued?: boolean
  readonly now: () => number
}

export const startProgress = ({ progress, token, id, total, already = 0, isContinued, now }: Options) => {
  const upload = { token, id: id ?? randomUUID() }
  let received = already
  let reported: number | undefined
  let reportedAt = now()
  let isWriting = false
  let hasEnded = false
  let writing = Promise.resolve()

  const write = (percent: number): Promise<void> => {
    const send = reported === undefined ? progress.begin : progress.report
    reported = percent
    reportedAt = now()
    isWriting = true
    // Writes run one after the other, so that no write overtakes an earlier one.
    writing = writing
      .then(() => send(upload, percent))
      .catch(() => {})
      .then(() => {
        isWriting = false
        reportIfDue()
      })
    return writing
  }

  const reportReceived = (): void => {
    const percent = total ? Math.min(Math.floor((received / total) * 100), 99) : 0
    if (reported === undefined || percent > reported) void write(percent)
  }

  const reportIfDue = (): void => {
    const pause = reported === undefined ? untilBegin : interval
    if (!isWriting && !hasEnded && now() - reportedAt >= pause) reportReceived()
  }

  const complete = (): Promise<void> => {
    hasEnded = true
    return reported === 100 ? writing : write(100)
  }

  if (isContinued) reportReceived()

  return {
    advance(bytes: number): void {
      received += bytes
      reportIfDue()
    },

    complete,

    /**
     * Reports the progress of the upload even while no bytes arrive, then its end. Without `isWhole`, reports a pause.
     * After a failure, the last progress stays.
     */
    async follow<Result>(upload: Promise<Result>, isWhole: (result: Result) => boolean = () => true): Promise<Result> {
      const timer = setInterval(reportIfDue, interval)
      try {
        const result = await upload
        if (isWhole(result)) void complete()
        else reportReceived()
        return result
      } finally {
        clearInterval(timer)
        hasEnded = true
        await writing
      }
    },
  }
}
