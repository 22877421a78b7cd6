import type { UploadRecords } from './upload-stores.ts'

/** Durations of a lease in milliseconds. */
export interface LeaseTerms {
  readonly lasts: number
  readonly renewsEvery?: number
}

/** For requests without a time limit. After a request has died, the next one waits 15 seconds. */
export const renewedLease: LeaseTerms = { lasts: 15_000, renewsEvery: 5_000 }

export interface Lease {
  readonly holder: string
  isOver(): boolean
  settled(): Promise<void>
  end(): Promise<void>
}

const lost = Number.NEGATIVE_INFINITY

interface LeaseDeps {
  readonly records: Pick<UploadRecords, 'renew'>
  /** The monotonic clock. */
  readonly now: () => number
  readonly terms: LeaseTerms
}

/**
 * Renews the lease of an upload that was taken, until it is ended. `since` is the moment at which it was asked for:
 * whatever an answer takes on its way, the lease is over here no later than it is over for others. A renewal that fails
 * has its next time; one that is refused is the last.
 */
export const keepLease = (
  { records, now, terms: { lasts, renewsEvery } }: LeaseDeps,
  { id, holder, since }: { readonly id: string; readonly holder: string; readonly since: number },
): Lease => {
  let until = since + lasts
  let renewal: Promise<void> | undefined

  const renew = async (): Promise<void> => {
    const asked = now()
    until = (await records.renew(id, holder, lasts)) ? asked + lasts : lost
  }
  const renewNext = (): void => {
    if (renewal || until === lost) return
    renewal = renew()
      .catch(() => {})
      .finally(() => {
        renewal = undefined
      })
  }
  const timer = renewsEvery === undefined ? undefined : setInterval(renewNext, renewsEvery)
  timer?.unref()

  const settled = async (): Promise<void> => {
    await renewal
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
