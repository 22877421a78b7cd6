import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Requester } from '../changes/change.ts'
import { toStoragePath } from '../path.ts'
import type { Quotas } from '../quota.ts'
import { requireScope } from '../scope.ts'
import { type DirectParts, requireDirectParts, requireParts, sumsOf } from './direct-parts.ts'
import { keepLease, type Lease, type LeaseTerms } from './lease.ts'
import { admitUpload, type PlacementDeps, placeUpload, type UploadRequest } from './placement.ts'
import {
  type Addition,
  admitAppend,
  countedBytes,
  type Durable,
  expiryOf,
  expiryOfComplete,
  holdingOf,
  isExpired,
  isWaiting,
  lastExpiryOf,
  mostOpen,
  progressOf,
  requireLength,
  tooLong,
  type Upload,
} from './upload.ts'
import type { UploadRecords, WholeUpload } from './upload-stores.ts'

export interface UploadsDeps extends PlacementDeps {
  readonly uploadRecords: UploadRecords
  readonly directParts?: DirectParts | undefined
  readonly clock: Clock
  readonly lease: LeaseTerms
  readonly quotas?: Quotas | undefined
}

const newId = (): string => randomBytes(16).toString('hex')

export const openUpload = async (
  deps: UploadsDeps,
  requester: Requester,
  { request, length, metadata }: Pick<Upload, 'length' | 'metadata'> & { readonly request: UploadRequest },
  direct?: DirectParts,
): Promise<Upload> => {
  const { target: admitted, limit } = await admitUpload(deps, request, requester)
  requireLength(length, limit)
  const created = deps.clock.wall()
  const target = { ...admitted, ...(direct && { isDirect: true }) }
  const id = newId()
  const counted = countedBytes({ length, offset: 0 })
  const reservation = await deps.quotas?.reserve(requester.site, counted)
  const holding = await (direct ? direct.begin({ id, target }) : deps.uploadParts.begin(target))
  const upload: Upload = {
    id,
    site: requester.site,
    user: requester.author.actor,
    target,
    metadata,
    limit,
    length,
    offset: 0,
    isComplete: false,
    created,
    expires: direct ? lastExpiryOf({ created }) : expiryOf({ created }, created),
    holding,
  }
  if (await deps.uploadRecords.create(upload, mostOpen, created)) return upload
  await deps.quotas?.release(reservation, counted)
  await deps.uploadParts.remove({ id, target, holding })
  throw new ServiceError('storageRefused', {
    message: `You have ${mostOpen} open uploads on this site. Complete or cancel some of them first.`,
  })
}

/**
 * Opens an upload whose parts the caller sends to the store. Errors: storageRefused where the store offers no parts.
 */
export const openDirectUpload = async (
  deps: UploadsDeps,
  requester: Requester,
  { request, length }: { readonly request: UploadRequest; readonly length: number },
): Promise<Upload> => {
  const direct = requireDirectParts(deps.directParts)
  requireParts(length)
  return openUpload(deps, requester, { request, length, metadata: '' }, direct)
}

/**
 * Removes an upload. If its file is placed, it stays, and an upload with all of its bytes counts as placed unless it
 * `isRefused`.
 */
export const discardUpload = async (
  { uploadRecords, uploadParts, quotas }: UploadsDeps,
  { id, site, target }: Pick<Upload, 'id' | 'site' | 'target'>,
  isRefused = false,
): Promise<void> => {
  const reservation = await quotas?.reserve(site, 0)
  const removed = await uploadRecords.remove(id)
  if (!removed?.holding) return
  if (isRefused || !isWaiting(removed)) await quotas?.release(reservation, countedBytes(removed))
  await uploadParts.remove({ id, target, holding: removed.holding })
}

/**
 * Returns the upload of the requester. A store may remove expired uploads late, so this checks the expiry. Errors:
 * uploadUnknown, privilegesMissing.
 */
export const findUpload = async (deps: UploadsDeps, requester: Requester, id: string): Promise<Upload> => {
  const upload = await deps.uploadRecords.get(id)
  if (upload && isExpired(upload, deps.clock.wall())) await discardUpload(deps, upload).catch(() => {})
  else if (upload?.site === requester.site && upload.user === requester.author.actor) {
    requireScope(requester, toStoragePath(upload.target.path))
    return upload
  }
  throw new ServiceError('uploadUnknown')
}

const longestRetryAfter = 5

const retryAfter = (left: number) => ({
  headers: { 'Retry-After': String(Math.max(1, Math.min(Math.ceil(left / 1000), longestRetryAfter))) },
})

const acquireLease = async (
  deps: UploadsDeps,
  { id, offset }: Pick<Upload, 'id' | 'offset'>,
  busy: 'uploadLocked' | 'unavailable',
  requester?: Requester,
): Promise<{ readonly held: Upload; readonly lease: Lease }> => {
  const { uploadRecords: records, clock, lease: terms } = deps
  const owner = requester && { site: requester.site, user: requester.author.actor, now: clock.wall() }
  const holder = newId()
  const since = clock.monotonic()
  const taken = await records.take(id, offset, holder, terms.lasts, owner)
  if (taken.outcome === 'gone') {
    if (requester) await findUpload(deps, requester, id)
    throw new ServiceError('uploadUnknown')
  }
  if (taken.outcome === 'moved') throw new ServiceError(busy === 'uploadLocked' ? 'offsetMismatch' : busy)
  if (taken.outcome === 'held') throw new ServiceError(busy, retryAfter(taken.left))
  return { held: taken.upload, lease: keepLease({ records, clock, terms }, { id, holder, since }) }
}

const endLease = async ({ uploadRecords }: UploadsDeps, id: string, lease: Lease, isHeld: boolean): Promise<void> => {
  await lease.end()
  if (isHeld) await uploadRecords.giveBack(id, lease.holder).catch(() => {})
}

const wholeOf = (upload: Upload): WholeUpload => {
  const { id, target, created, offset } = upload
  return { id, target, created, length: offset, holding: holdingOf(upload) }
}

const writeComplete = async ({ uploadRecords, clock }: UploadsDeps, upload: Upload): Promise<Upload> => {
  const expires = expiryOfComplete(clock.wall())
  await uploadRecords.complete(upload.id, expires)
  return { ...upload, isComplete: true, expires, holding: null }
}

const isRefusal = (error: unknown): boolean => error instanceof ServiceError && error.status < 500

const complete = async (deps: UploadsDeps, requester: Requester, upload: Upload, lease: Lease): Promise<Upload> => {
  if (lease.isOver()) throw new ServiceError('unavailable')
  try {
    await placeUpload(deps, wholeOf(upload), requester)
  } catch (error) {
    // If this fails, the upload expires later.
    if (isRefusal(error)) await discardUpload(deps, upload, true).catch(() => {})
    throw error
  }
  return writeComplete(deps, upload)
}

/**
 * Places an upload that has all of its bytes. Errors: unavailable, after which the upload stays open. Any other error
 * has ended the upload.
 */
export const settleUpload = async (deps: UploadsDeps, requester: Requester, upload: Upload): Promise<Upload> => {
  if (!isWaiting(upload)) return upload
  const { held, lease } = await acquireLease(deps, upload, 'unavailable')
  try {
    const isInPlace = await deps.uploadParts.isInPlace(wholeOf(held))
    return await (isInPlace ? writeComplete(deps, held) : complete(deps, requester, held, lease))
  } finally {
    await endLease(deps, upload.id, lease, true)
  }
}

/**
 * Places a direct upload whose parts are all stored. Errors: storageRefused for a missing part, after which the upload
 * stays open.
 */
export const completeParts = async (deps: UploadsDeps, requester: Requester, upload: Upload): Promise<Upload> => {
  const { id, target, length, isComplete } = upload
  if (isComplete || isWaiting(upload)) return settleUpload(deps, requester, upload)
  const stored = await requireDirectParts(deps.directParts).stored({ id, target, holding: holdingOf(upload) })
  const parts = sumsOf(stored, upload)
  const { held, lease } = await acquireLease(deps, upload, 'uploadLocked')
  try {
    const whole = { ...held, offset: length ?? 0, holding: { ...holdingOf(held), parts } }
    if (!(await deps.uploadRecords.advance(id, lease.holder, whole, true))) throw new ServiceError('uploadLocked')
    return await complete(deps, requester, whole, lease)
  } finally {
    await endLease(deps, id, lease, true)
  }
}

/**
 * Appends bytes under a lease, and ends the lease unless the upload has all of its bytes. Bytes before a broken
 * connection stay. If the bytes are wrong or too many, they are dropped; without a declared length, those up to the
 * limit may stay.
 */
const appendBytes = async (
  { uploadRecords, uploadParts, clock, quotas }: UploadsDeps,
  upload: Upload,
  lease: Lease,
  addition: Addition,
): Promise<Upload> => {
  const { id } = upload
  const { holder } = lease
  const { checksum } = addition
  const { length, room } = admitAppend(upload, addition)
  let wrong: ServiceError | undefined
  const refuseWrong = (error: ServiceError | false | undefined): void => {
    if (!error) return
    wrong = error
    throw error
  }
  async function* admitted(): AsyncGenerator<Uint8Array, void> {
    const hash = createHash(checksum?.algorithm ?? 'md5')
    let size = 0
    for await (const chunk of addition.content) {
      if (lease.isOver()) throw new ServiceError('unavailable')
      size += chunk.length
      refuseWrong(size > room && tooLong(upload.offset + room))
      if (checksum) hash.update(chunk)
      yield chunk
    }
    refuseWrong(checksum && !hash.digest().equals(checksum.value) && new ServiceError('chunkMismatch'))
  }
  const grown = { ...upload, length, holding: holdingOf(upload) }
  const durable: Durable = { size: 0, holding: grown.holding }
  // Bytes without a complete check do not count, and the quota must count bytes before they are stored.
  const isCounted = upload.length !== null || (await quotas?.quotaOf(upload.site)) === undefined
  if (!checksum && isCounted) lease.follow(grown, durable)
  const appended = await uploadParts.append(grown, upload.offset, admitted(), durable, lease.isOver)
  const { size, failure } = appended
  const stays = failure === undefined || (!wrong && size > 0 && !checksum)
  if (!stays) throw failure
  const progress = progressOf(grown, appended, clock.wall())
  await lease.settle()
  const added = countedBytes(progress) - countedBytes(upload)
  if (added > 0) await quotas?.reserve(upload.site, added)
  // After the last byte the file is placed, so the lease stays.
  if (!(await uploadRecords.advance(id, holder, progress, progress.offset === length))) {
    throw new ServiceError((await uploadRecords.get(id)) ? 'uploadLocked' : 'uploadUnknown')
  }
  if (failure !== undefined) throw failure
  return { ...upload, ...progress }
}

const isEmptyAddition = (upload: Upload, { offset, length, declared }: Omit<Addition, 'content'>): boolean =>
  declared === 0 && offset === upload.offset && (length === undefined || length === upload.length)

interface BegunAppend {
  readonly upload: Upload
  readonly lease?: Lease
}

export const beginAppend = async (
  deps: UploadsDeps,
  requester: Requester,
  id: string,
  addition: Omit<Addition, 'content'>,
): Promise<BegunAppend> => {
  const { offset, declared } = addition
  // No upload reaches this offset. The store does not get the number, because it may be too large for the store.
  if (declared === 0 || offset > deps.largestResumableFile) {
    const upload = await findUpload(deps, requester, id)
    if (upload.target.isDirect) throw new ServiceError('uploadUnknown')
    if (offset > upload.limit) throw new ServiceError('offsetMismatch')
    if (isEmptyAddition(upload, addition)) return { upload }
  }
  const { held, lease } = await acquireLease(deps, { id, offset }, 'uploadLocked', requester)
  try {
    if (held.target.isDirect) throw new ServiceError('uploadUnknown')
    requireScope(requester, toStoragePath(held.target.path))
  } catch (error) {
    await endLease(deps, id, lease, true)
    throw error
  }
  return { upload: held, lease }
}

export const completeAppend = async (
  deps: UploadsDeps,
  requester: Requester,
  { upload, lease }: BegunAppend,
  addition: Addition,
): Promise<Upload> => {
  if (!lease) return settleUpload(deps, requester, upload)
  let isHeld = true
  try {
    const grown = await appendBytes(deps, upload, lease, addition)
    isHeld = isWaiting(grown)
    return isHeld ? await complete(deps, requester, grown, lease) : grown
  } finally {
    await endLease(deps, upload.id, lease, isHeld)
  }
}

/**
 * Takes the bytes that come with the creation, and places an empty upload. If they are refused, nothing of the upload
 * is left.
 */
export const fillUpload = async (
  deps: UploadsDeps,
  requester: Requester,
  upload: Upload,
  first: Addition | undefined,
): Promise<Upload> => {
  try {
    if (!first) return await settleUpload(deps, requester, upload)
    return await completeAppend(deps, requester, await beginAppend(deps, requester, upload.id, first), first)
  } catch (error) {
    await discardUpload(deps, upload).catch(() => {})
    throw error
  }
}
