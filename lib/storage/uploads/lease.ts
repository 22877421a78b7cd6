import type { UploadRecords } from './upload-stores.ts'

export interface LeaseTerms {
  readonly lasts: number
  readonly renewsEvery?: number
}

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
  readonly now: () => number
  readonly terms: LeaseTerms
}

/**
 * Renews a lease until it ends. `since`: the time of the request for it, so it ends here no later than in the store. A
 * failed renewal is repeated; a refused one is the last.
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
