import { ServiceError } from '../../core/errors.ts'
import type { Requester } from '../changes/change.ts'
import { admit, entryOf, putStaged } from '../changes/put.ts'
import { isTemplate, templateFault } from '../file-kind.ts'
import type { Claim } from '../object-store.ts'
import { storedPath } from '../path.ts'
import { refuse } from '../refusals.ts'
import {
  type ClaimedUpload,
  type Durable,
  expiryOfComplete,
  holdingOf,
  isWaiting,
  longestRequest,
  progressOf,
  type Target,
  type Upload,
  type WholeUpload,
} from './upload.ts'
import {
  discardUpload,
  findUpload,
  newId,
  requesterOf,
  requireDirectParts,
  tagsOf,
  type UploadsDeps,
} from './uploads.ts'

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
  if (taken.outcome === 'held') {
    const wait = Math.max(1, Math.min(Math.ceil(taken.left / 1000), longestRetryAfter))
    throw new ServiceError(busy, { headers: { 'Retry-After': String(wait) } })
  }
  throw new ServiceError(busy === 'uploadLocked' ? 'offsetMismatch' : busy)
}

const placeOf = ({ path, folder, asDraft, keepsDraft = false }: Target, { site }: Requester) =>
  ({
    site,
    asDraft,
    keepsDraft,
    kind: 'file',
    path: storedPath(path),
    into: folder === undefined ? undefined : storedPath(folder),
  }) as const

const placeUpload = async (deps: UploadsDeps, whole: ClaimedUpload, uploader: Requester): Promise<void> => {
  const place = placeOf(whole.target, uploader)
  // The path was resolved when the upload was created, so it is not looked up again.
  const requester = { ...requesterOf(uploader, whole.target), isCaseSensitive: true }
  const seen = await admit(deps, place, requester)
  const fault = isTemplate(place.path) ? await templateFault(deps.uploadParts.read(whole)) : undefined
  refuse([fault])
  await putStaged(deps, seen, [await deps.uploadParts.whole(whole)], requester)
}

const wholeOf = (upload: Upload): WholeUpload => {
  const { id, target, created, offset } = upload
  return { id, target, created, length: offset, holding: holdingOf(upload) }
}

const claimOf = (deps: UploadsDeps, id: string, { holder }: Lease, { deadline }: Requester): Claim => {
  const { uploadRecords, clock, lease } = deps
  return {
    // The lease lasts until the end of the request, so that no other request takes over while this one undoes its
    // placement.
    isHeld: () => uploadRecords.renew(id, holder, Math.min(Math.max(lease.lasts, deadline.timeLeft()), longestRequest)),
    complete: (entry) => uploadRecords.complete(id, holder, expiryOfComplete(clock.wall()), entry, deadline),
  }
}

const completed = (upload: Upload, { clock }: UploadsDeps): Upload => ({
  ...upload,
  isComplete: true,
  expires: expiryOfComplete(clock.wall()),
  holding: null,
})

export const completeUpload = async (deps: UploadsDeps, requester: Requester, upload: Upload, lease: Lease) => {
  if (lease.isOver()) throw new ServiceError('unavailable')
  const claim = claimOf(deps, upload.id, lease, requester)
  try {
    await placeUpload(deps, { ...wholeOf(upload), claim }, requester)
  } catch (error) {
    if (!(error instanceof ServiceError && error.status < 500)) throw error
    if (!(await claim.isHeld())) throw new ServiceError('unavailable', { cause: error })
    // If this fails, the upload expires later.
    await discardUpload(deps, upload, true).catch(() => {})
    throw error
  }
  return completed(upload, deps)
}

// An earlier request may still be trying to place the upload.
const takeOver = async ({ uploadRecords, uploadParts }: UploadsDeps, held: Upload, { holder }: Lease) => {
  const holding = await uploadParts.takeOver(wholeOf(held))
  if (holding === held.holding) return held
  const moved = { ...held, holding }
  if (await uploadRecords.advance(held.id, holder, moved, true)) return moved
  throw new ServiceError('unavailable')
}

/**
 * Places an upload that has all of its bytes. Errors: unavailable, after which the upload stays open. Any other error
 * has ended the upload.
 */
export const settleUpload = async (deps: UploadsDeps, requester: Requester, upload: Upload): Promise<Upload> => {
  if (!isWaiting(upload)) return upload
  const { held, lease } = await acquireLease(deps, upload, 'unavailable')
  await using _lease = lease
  const own = await takeOver(deps, held, lease)
  if (!(await deps.uploadParts.isInPlace(wholeOf(own)))) return await completeUpload(deps, requester, own, lease)
  const { author, site } = requester
  const entry = { ...author, site, ...entryOf(placeOf(own.target, requester)) }
  await claimOf(deps, own.id, lease, requester).complete(entry)
  return completed(own, deps)
}

/**
 * Places a direct upload whose parts are all stored. Errors: storageRefused for a missing part, after which the upload
 * stays open.
 */
export const completeParts = async (deps: UploadsDeps, requester: Requester, upload: Upload): Promise<Upload> => {
  const { id, target, length, isComplete } = upload
  if (isComplete || isWaiting(upload)) return settleUpload(deps, requester, upload)
  const stored = await requireDirectParts(deps.directParts).stored({ id, target, holding: holdingOf(upload) })
  const parts = tagsOf(stored, upload)
  const { held, lease } = await acquireLease(deps, upload, 'uploadLocked')
  await using _lease = lease
  const whole = { ...held, offset: length ?? 0, holding: { ...holdingOf(held), parts } }
  if (!(await deps.uploadRecords.advance(id, lease.holder, whole, true))) throw new ServiceError('uploadLocked')
  return await completeUpload(deps, requester, whole, lease)
}
