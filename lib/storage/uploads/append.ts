import { createHash } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'
import type { Deadline } from '../../core/time.ts'
import type { Requester } from '../changes/change.ts'
import { storageRefused } from '../refusals.ts'
import {
  type Addition,
  type Announcement,
  countedBytes,
  type Durable,
  holdingOf,
  longestRequest,
  type Progress,
  progressOf,
  type Upload,
} from './upload.ts'
import { findUpload, newId, type UploadsDeps, uploadTooLarge } from './uploads.ts'

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

  // The lease lasts until the end of the request, so that no other request takes over while this one undoes its
  // placement.
  const untilEndOf = (deadline: Deadline) => Math.min(Math.max(lasts, deadline.timeLeft()), longestRequest)

  const stopRecording = async (): Promise<void> => {
    recorded = undefined
    await renewal
  }
  let mustGiveBack = true
  return {
    isOver: () => monotonic() >= until,
    stopRecording,
    recordAtRenewals(upload: Upload, durable: Durable): void {
      recorded = { upload, durable }
    },
    async advance(progress: Progress, isKept: boolean): Promise<boolean> {
      await stopRecording()
      const isStored = await uploadRecords.advance(id, holder, progress, isKept)
      mustGiveBack = isKept
      return isStored
    },
    claim: (deadline: Deadline) => uploadRecords.claim(id, holder, () => untilEndOf(deadline)),
    renew: (deadline: Deadline) => uploadRecords.renew(id, holder, untilEndOf(deadline)),
    endedByClaim(): void {
      mustGiveBack = false
    },
    async [Symbol.asyncDispose](): Promise<void> {
      clearInterval(timer)
      await stopRecording()
      if (mustGiveBack) await uploadRecords.giveBack(id, holder).catch(() => {})
    },
  }
}

export type Lease = ReturnType<typeof keepLease>

const longestRetryAfter = 5

export const takeLease = async (
  deps: UploadsDeps,
  { id, offset }: Pick<Upload, 'id' | 'offset'>,
  requester?: Requester,
) => {
  const { uploadRecords, clock, lease } = deps
  const owner = requester && { site: requester.site, user: requester.author.actor, now: clock.wall() }
  const holder = newId()
  const since = clock.monotonic()
  const taken = await uploadRecords.take(id, offset, holder, lease.lasts, owner)
  if (taken.outcome !== 'taken') return taken
  return { outcome: 'taken', held: taken.upload, lease: keepLease(deps, { id, holder, since }) } as const
}

export const busyUpload = (error: 'uploadLocked' | 'unavailable', left = 0): ServiceError => {
  const wait = Math.max(1, Math.min(Math.ceil(left / 1000), longestRetryAfter))
  return new ServiceError(error, { headers: { 'Retry-After': String(wait) } })
}

export const acquireLease = async (deps: UploadsDeps, upload: Pick<Upload, 'id' | 'offset'>, requester?: Requester) => {
  const taken = await takeLease(deps, upload, requester)
  if (taken.outcome === 'taken') return taken
  const found = requester && (await findUpload(deps, requester, upload.id))
  if (taken.outcome === 'gone' || found?.target.isDirect) throw new ServiceError('uploadUnknown')
  if (taken.outcome === 'held') throw busyUpload(requester ? 'uploadLocked' : 'unavailable', taken.left)
  throw new ServiceError(requester ? 'offsetMismatch' : 'unavailable')
}

// "Once set the length MUST NOT be changed" (tus 1.0). Errors: storageRefused, uploadTooLarge.
const lengthFrom = (upload: Upload, given: number | undefined): number | null => {
  if (given === undefined) return upload.length
  if (upload.length !== null && upload.length !== given) {
    throw storageRefused(`The length of the upload is ${upload.length} bytes and can no longer change.`)
  }
  if (given < upload.offset) {
    throw storageRefused(`The upload already has ${upload.offset} bytes, so its length cannot be ${given}.`)
  }
  if (given > upload.limit) throw uploadTooLarge(upload.limit)
  return given
}

// The lease was taken at the offset of the request, so both offsets are equal.
const admitAppend = (upload: Upload, { length: given, declared = 0 }: Announcement) => {
  const length = lengthFrom(upload, given)
  const room = (length ?? upload.limit) - upload.offset
  if (declared > room) throw uploadTooLarge(upload.limit, length)
  return { grown: { ...upload, length, holding: holdingOf(upload) }, room }
}

const dropUncounted = async ({ uploadRecords, uploadParts }: UploadsDeps, id: Upload['id'], lease: Lease) => {
  if (!uploadParts.cut) return
  await lease.stopRecording()
  const upload = await uploadRecords.get(id)
  if (upload?.holding && !lease.isOver()) await uploadParts.cut(upload.holding, upload.offset)
}

// Appends bytes under a lease, and ends the lease unless the upload has all of its bytes. If the connection breaks, the
// bytes that have arrived stay. Bytes that are wrong or too many are dropped, unless the lease has ended and another
// request may append. Without a declared length, the bytes up to the limit may stay.
export const appendBytes = async (
  deps: UploadsDeps,
  upload: Upload,
  lease: Lease,
  addition: Addition,
): Promise<Upload> => {
  const { uploadRecords, uploadParts, clock, quotas } = deps
  const { checksum } = addition
  const { grown, room } = admitAppend(upload, addition)
  let arrived = 0
  let free = upload.length === null ? 0 : Number.POSITIVE_INFINITY
  const requireQuota = async (): Promise<void> => {
    const needed = grown.length === null ? arrived : room
    if (needed > free) free = (await uploadRecords.requireRoom?.(upload.site, needed)) ?? Number.POSITIVE_INFINITY
  }
  async function* admitted(): AsyncGenerator<Uint8Array, void> {
    const hash = createHash(checksum?.algorithm ?? 'md5')
    for await (const chunk of addition.content) {
      if (lease.isOver()) throw new ServiceError('unavailable')
      arrived += chunk.length
      if (arrived > room) throw uploadTooLarge(grown.limit, grown.length)
      await requireQuota()
      if (checksum) hash.update(chunk)
      yield chunk
    }
    if (checksum && !hash.digest().equals(checksum.value)) throw new ServiceError('chunkMismatch')
  }
  const durable = { size: 0, holding: grown.holding }
  // Records progress only if every counted byte is certain to stay. Bytes with a checksum may be refused, and so may
  // bytes that the quota does not count yet. Then each renewal only delays the expiry.
  const isCertain = !checksum && (upload.length !== null || (await quotas?.quotaOf(upload.site)) === undefined)
  lease.recordAtRenewals(isCertain ? grown : upload, isCertain ? durable : { size: 0, holding: grown.holding })
  await using refused = new AsyncDisposableStack()
  refused.defer(() => dropUncounted(deps, upload.id, lease).catch(() => {}))
  const appended = await uploadParts.append(grown, upload.offset, admitted(), durable, lease.isOver)
  const { size, failure } = appended
  const stays = failure === undefined || (arrived <= Math.min(room, free) && size > 0 && !checksum)
  if (!stays) throw failure
  const unchangedExpiry = size === 0 && { expires: upload.expires }
  const progress = { ...progressOf(grown, appended, clock.wall()), ...unchangedExpiry }
  const added = countedBytes(progress) - countedBytes(upload)
  if (added > 0) await quotas?.reserve(upload.site, { bytes: added })
  // After the last byte the file is placed, so the lease stays.
  const isRecorded = await lease.advance(progress, progress.offset === grown.length)
  refused.move()
  if (!isRecorded) {
    throw new ServiceError((await uploadRecords.get(upload.id)) ? 'uploadLocked' : 'uploadUnknown')
  }
  if (failure !== undefined) throw failure
  return { ...upload, ...progress }
}
