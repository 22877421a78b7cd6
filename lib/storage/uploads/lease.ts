import type { UploadRecords } from './upload-records.ts'

/** For how long a request has an upload to itself, in milliseconds. */
export interface LeaseTerms {
  /** From the moment on at which it has taken the upload, or renewed that. */
  readonly lasts: number
  /** Left out where every request ends before its lease does. */
  readonly renewsEvery?: number
}

/** Where a request may last as long as its body comes: whoever waits for one that has died waits for 15 seconds. */
export const renewedLease: LeaseTerms = { lasts: 15_000, renewsEvery: 5_000 }

/** What a request has that has taken an upload. */
export interface Lease {
  readonly holder: string
  /** Whether somebody else may have the upload by now: nothing of it may be begun any more. */
  isOver(): boolean
  /** Resolves when no renewal is on its way. */
  settled(): Promise<void>
  /** Renews it no more, and resolves when no renewal is on its way. */
  end(): Promise<void>
}

/** The end of a lease that somebody else has by now. */
const lost = Number.NEGATIVE_INFINITY

interface LeaseDeps {
  readonly records: Pick<UploadRecords, 'renew'>
  /** The monotonic clock. */
  readonly now: () => number
  readonly terms: LeaseTerms
}

/**
 * Renews the lease of an upload that was taken, until it is ended. `since` is the moment at which it was asked for: whatever an answer takes on its
 * way, the lease is over here no later than it is over for others. A renewal that fails has its next time; one that is refused is the last.
 */
export const keepLease = (
  { records, now, terms: { lasts, renewsEvery } }: LeaseDeps,
  { id, holder, since }: { readonly id: string; readonly holder: string; readonly since: number },
): Lease => {
  let until = since + lasts
  let going: Promise<void> | undefined

  const renew = async (): Promise<void> => {
    const asked = now()
    until = (await records.renew(id, holder, lasts)) ? asked + lasts : lost
  }
  const renewNext = (): void => {
    if (going || until === lost) return
    going = renew()
      .catch(() => {})
      .finally(() => {
        going = undefined
      })
  }
  const timer = renewsEvery === undefined ? undefined : setInterval(renewNext, renewsEvery)
  timer?.unref()

  const settled = async (): Promise<void> => {
    await going
  }
  return {
    holder,
    isOver: () => now() >= until,
    settled,
    end() {
      clearInterval(timer)
      return settled()
    },
  }
}
