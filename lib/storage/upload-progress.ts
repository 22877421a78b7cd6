import { randomUUID } from 'node:crypto'

interface UploadName {
  /** SHA-256 of the login token. */
  readonly token: string
  readonly id: string
}

/**
 * The port to the progress of each token's newest upload, for a day. It may be lost with the machine. Errors of every
 * call: unavailable.
 */
export interface UploadProgress {
  /** Makes this the token's newest upload, at 0 %: newer than every one that began before, whatever a clock says. */
  begin(upload: UploadName): Promise<void>
  /** Progress never falls, and never touches another upload's. */
  report(upload: UploadName, percent: number): Promise<void>
  /** 0 to 100; 0 when the token has not uploaded within a day. */
  percentOf(token: string): Promise<number>
}

export interface Progress {
  /** So many bytes have come in. */
  advance(bytes: number): void
  /** Tells 100 %. */
  succeed(): Promise<void>
  /** Tells how far it is: another request goes on. */
  pause(): Promise<void>
  /** Lets the last value stand. */
  fail(): Promise<void>
}

/** Milliseconds from one write to the next: three in a second, so that the last one makes at most four (S-90). */
const interval = 334

interface Options {
  readonly progress: UploadProgress
  /** SHA-256 of the login token. */
  readonly token: string
  /** The id of an upload that goes on in several requests; a new one unless told. */
  readonly id?: string
  /** The declared length in bytes. Without it the progress is 0 until the end (S-88). */
  readonly total: number | undefined
  readonly already?: number
  /** The monotonic clock, in milliseconds. */
  readonly now: () => number
}

const percentAt = (received: number, total: number): number => Math.min(Math.floor((received / total) * 100), 99)

export const startProgress = ({ progress, token, id = randomUUID(), total, already = 0, now }: Options): Progress => {
  const upload = { token, id }
  let received = already
  let told = 0
  let toldAt = now()
  let isWriting = true
  let hasEnded = false

  /** One write after the other: were they to overtake each other, the store would have to sort them out. */
  const settled = (write: Promise<void>): Promise<void> =>
    write
      .catch(() => {})
      .then(() => {
        isWriting = false
        tellIfDue()
      })
  let writing = settled(progress.begin(upload))

  const write = (percent: number): void => {
    told = percent
    toldAt = now()
    isWriting = true
    writing = settled(writing.then(() => progress.report(upload, percent)))
  }

  const tellIfDue = (): void => {
    if (!total || isWriting || hasEnded || now() - toldAt < interval) return
    const percent = percentAt(received, total)
    if (percent > told) write(percent)
  }

  return {
    advance(bytes) {
      received += bytes
      tellIfDue()
    },
    async succeed() {
      hasEnded = true
      write(100)
      await writing
    },
    async pause() {
      hasEnded = true
      if (total) write(percentAt(received, total))
      await writing
    },
    async fail() {
      hasEnded = true
      await writing
    },
  }
}
