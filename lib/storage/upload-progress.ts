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

/**
 * The uploads of a process that have not reported yet, by token, oldest first. An upload begins to report some time
 * after its start, and must not take the place of an upload that started later (S-89).
 */
const createQueue = () => {
  const silent = new Map<string, Set<UploadName>>()
  const leave = (uploads: Set<UploadName>, upload: UploadName) => {
    uploads.delete(upload)
    if (uploads.size === 0) silent.delete(upload.token)
  }
  return {
    enter(upload: UploadName): void {
      silent.set(upload.token, (silent.get(upload.token) ?? new Set()).add(upload))
    },
    leave(upload: UploadName): void {
      leave(silent.get(upload.token) ?? new Set(), upload)
    },
    /** Returns false if an upload that started later reports already. Otherwise, earlier uploads stay silent. */
    take(upload: UploadName): boolean {
      const uploads = silent.get(upload.token)
      if (!uploads?.has(upload)) return false
      for (const each of uploads) {
        leave(uploads, each)
        if (each === upload) break
      }
      return true
    },
  }
}

interface Tracked {
  readonly token: string
  readonly id?: string | undefined
  /** In bytes. If undefined, the progress stays at 0 until the end (S-88). */
  readonly total: number | undefined
  readonly already?: number
  readonly isContinued?: boolean
}

interface Reporting {
  readonly progress: UploadProgress
  readonly now: () => number
  readonly queue: ReturnType<typeof createQueue>
}

const startProgress = (
  { progress, now, queue }: Reporting,
  { token, id, total, already = 0, isContinued }: Tracked,
) => {
  const upload = { token, id: id ?? randomUUID() }
  let received = already
  let reported: number | undefined
  let reportedAt = now()
  let isWriting = false
  let hasEntered = false
  let hasEnded = false
  let writing = Promise.resolve()

  const enter = (): void => {
    if (!hasEntered) queue.enter(upload)
    hasEntered = true
  }

  const write = (percent: number): Promise<void> => {
    if (reported === undefined && !queue.take(upload)) {
      hasEnded = true
      return writing
    }
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

  if (isContinued) {
    enter()
    reportReceived()
  }

  return {
    advance(bytes: number): void {
      enter()
      received += bytes
      reportIfDue()
    },

    complete,

    /**
     * Reports the progress of the upload even while no bytes arrive, then its end. Without `isWhole`, reports a pause.
     * After a failure, the last progress stays.
     */
    async follow<Result>(work: Promise<Result>, isWhole: (result: Result) => boolean = () => true): Promise<Result> {
      const timer = setInterval(reportIfDue, interval)
      enter()
      try {
        const result = await work
        if (isWhole(result)) void complete()
        else reportReceived()
        return result
      } finally {
        clearInterval(timer)
        hasEnded = true
        queue.leave(upload)
        await writing
      }
    },
  }
}

export type Tracking = ReturnType<typeof startProgress>

/** Returns a function that begins to report an upload of this process. */
export const createProgressReports = (progress: UploadProgress, now: () => number) => {
  const queue = createQueue()
  return (upload: Tracked): Tracking => startProgress({ progress, now, queue }, upload)
}
