import type { Clock } from '../../core/time.ts'
import { type Durable, progressOf, type Upload, type UploadRecords } from './upload.ts'

export interface LeaseTerms {
  readonly lasts: number
  readonly renewsEvery?: number
}

export const renewedLease: LeaseTerms = { lasts: 15_000, renewsEvery: 5_000 }

const lost = Number.NEGATIVE_INFINITY

interface LeaseDeps {
  readonly uploadRecords: Pick<UploadRecords, 'renew' | 'giveBack'>
  readonly clock: Clock
  readonly lease: LeaseTerms
}

/**
 * Renews a lease until it is disposed of. `since` is the time when the lease was requested, so that the lease never ends here
 * later than in the store. A failed renewal is repeated. After a refused renewal, no renewal follows.
 */
export const keepLease = (
  { uploadRecords, clock: { wall, monotonic }, lease: { lasts, renewsEvery } }: LeaseDeps,
  { id, holder, since }: { readonly id: string; readonly holder: string; readonly since: number },
) => {
  let until = since + lasts
  let renewal: Promise<void> | undefined

  let followed: { readonly upload: Upload; readonly durable: Durable } | undefined

  const renew = async (): Promise<void> => {
    const asked = monotonic()
    const progress = followed && progressOf(followed.upload, followed.durable, wall())
    until = (await uploadRecords.renew(id, holder, lasts, progress)) ? asked + lasts : lost
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

  const settle = async (): Promise<void> => {
    followed = undefined
    await renewal
  }
  return {
    holder,
    isOver: () => monotonic() >= until,
    /** Each renewal records how much of an append is durable, until the lease ends. */
    follow(upload: Upload, durable: Durable): void {
      followed = { upload, durable }
    },
    settle,
    mustGiveBack: true,
    async [Symbol.asyncDispose](): Promise<void> {
      clearInterval(timer)
      await settle()
      if (this.mustGiveBack) await uploadRecords.giveBack(id, holder).catch(() => {})
    },
  }
}

export type Lease = ReturnType<typeof keepLease>
