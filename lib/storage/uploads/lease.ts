import { ServiceError } from '../../core/errors.ts'
import type { Requester } from '../changes/change.ts'
import { type Durable, progressOf, type Upload } from './upload.ts'
import { findUpload, newId, type UploadsDeps } from './uploads.ts'

const lost = Number.NEGATIVE_INFINITY

/**
 * Renews a lease until it is disposed of. `since` is the time when the lease was requested, so that the lease never ends here
 * later than in the store. A failed renewal is repeated. After a refused renewal, no renewal follows.
 */
const keepLease = (
  { uploadRecords, clock: { wall, monotonic }, lease: { lasts, renewsEvery } }: UploadsDeps,
  { id, holder, since }: { readonly id: string; readonly holder: string; readonly since: number },
) => {
  let until = since + lasts
  let renewal: Promise<void> | undefined
  let recorded: { readonly upload: Upload; readonly durable: Durable } | undefined

  const renew = async (): Promise<void> => {
    const asked = monotonic()
    const progress = recorded && progressOf(recorded.upload, recorded.durable, wall())
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

  const stopRecording = async (): Promise<void> => {
    recorded = undefined
    await renewal
  }
  return {
    holder,
    isOver: () => monotonic() >= until,
    recordAtRenewals(upload: Upload, durable: Durable): void {
      recorded = { upload, durable }
    },
    stopRecording,
    mustGiveBack: true,
    async [Symbol.asyncDispose](): Promise<void> {
      clearInterval(timer)
      await stopRecording()
      if (this.mustGiveBack) await uploadRecords.giveBack(id, holder).catch(() => {})
    },
  }
}

export type Lease = ReturnType<typeof keepLease>

const longestRetryAfter = 5

const retryAfter = (left: number) => ({
  headers: { 'Retry-After': String(Math.max(1, Math.min(Math.ceil(left / 1000), longestRetryAfter))) },
})

export const acquireLease = async (
  deps: UploadsDeps,
  { id, offset }: Pick<Upload, 'id' | 'offset'>,
  busy: 'uploadLocked' | 'unavailable',
  requester?: Requester,
) => {
  const { uploadRecords, clock, lease } = deps
  const owner = requester && { site: requester.site, user: requester.author.actor, now: clock.wall() }
  const holder = newId()
  const since = clock.monotonic()
  const taken = await uploadRecords.take(id, offset, holder, lease.lasts, owner)
  if (taken.outcome === 'taken') return { held: taken.upload, lease: keepLease(deps, { id, holder, since }) }
  const found = requester && (await findUpload(deps, requester, id))
  if (taken.outcome === 'gone' || found?.target.isDirect) throw new ServiceError('uploadUnknown')
  if (taken.outcome === 'held') throw new ServiceError(busy, retryAfter(taken.left))
  throw new ServiceError(busy === 'uploadLocked' ? 'offsetMismatch' : busy)
}
