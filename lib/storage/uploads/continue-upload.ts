import { createHash } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'
import { settleAll } from '../../core/in-parallel.ts'
import type { Requester } from '../changes/change.ts'
import { admit, entryOf, putStaged } from '../changes/put.ts'
import { isTemplate, templateFault } from '../file-kind.ts'
import { requireScope, storedPath } from '../path.ts'
import { refuse } from '../refusals.ts'
import { acquireLease, appendBytes, busyUpload, type Lease, takeLease } from './append.ts'
import {
  type Addition,
  type Announcement,
  type Claim,
  expiryOfComplete,
  holdingOf,
  isWaiting,
  type Target,
  type Upload,
  type WholeUpload,
} from './upload.ts'
import { discardUpload, findUpload, PartMissing, requesterOf, type UploadsDeps } from './uploads.ts'

const placeOf = ({ path, folder, asDraft, keepsDraft = false }: Target, { site }: Requester) =>
  ({
    site,
    asDraft,
    keepsDraft,
    kind: 'file',
    path: storedPath(path),
    into: folder === undefined ? undefined : storedPath(folder),
  }) as const

const placeUpload = async (
  deps: UploadsDeps,
  whole: WholeUpload,
  uploader: Requester,
  claim: Claim | undefined,
  recording: Promise<boolean> | undefined,
): Promise<void> => {
  const place = placeOf(whole.target, uploader)
  // The path was resolved when the upload was created, so it is not looked up again.
  const requester = { ...requesterOf(uploader, whole.target), isCaseSensitive: true }
  const staging = deps.uploadParts.whole(whole, claim)
  try {
    const [staged, seen, isRecorded] = await settleAll([staging, admit(deps, place, requester), recording])
    if (isRecorded === false) throw new ServiceError('unavailable')
    refuse([isTemplate(place.path) ? await templateFault(deps.uploadParts.read(whole)) : undefined])
    await putStaged(deps, seen, [staged], requester)
  } catch (error) {
    await staging.then((staged) => staged.discard()).catch(() => {})
    throw error
  }
}

const wholeOf = (upload: Upload): WholeUpload => {
  const { id, target, created, offset } = upload
  return { id, target, created, length: offset, holding: holdingOf(upload) }
}

const completed = (upload: Upload, { clock }: UploadsDeps): Upload => ({
  ...upload,
  isComplete: true,
  expires: expiryOfComplete(clock.wall()),
  holding: null,
})

// Until the record shows all of the bytes, nothing is placed.
const completeUpload = async (
  deps: UploadsDeps,
  requester: Requester,
  upload: Upload,
  lease: Lease,
  isRecorded = true,
): Promise<Upload> => {
  if (lease.isOver()) throw new ServiceError('unavailable')
  const claim = lease.claim(requester.deadline)
  const recording = isRecorded ? undefined : lease.advance({ ...upload, holding: holdingOf(upload) }, true)
  try {
    await placeUpload(deps, wholeOf(upload), requester, claim, recording)
    if (claim) lease.endedByClaim()
  } catch (error) {
    if (error instanceof PartMissing) await lease.advance({ ...upload, offset: 0, holding: holdingOf(upload) }, false)
    if (error instanceof PartMissing || !(error instanceof ServiceError && error.status < 500)) throw error
    if (!(await lease.renew(requester.deadline))) throw new ServiceError('unavailable', { cause: error })
    // If this fails, the upload expires later.
    await discardUpload(deps, upload, true).catch(() => {})
    throw error
  }
  return completed(upload, deps)
}

/**
 * An earlier request may still be trying to place the upload. After this, it cannot. Returns the bytes, or undefined if
 * the earlier request has placed them: then this writes the missing entry.
 */
const takeOver = async (deps: UploadsDeps, requester: Requester, held: Upload, lease: Lease) => {
  const holding = await deps.uploadParts.takeOver(wholeOf(held))
  if (holding) return holding
  const { author, site, deadline } = requester
  const entry = { ...author, site, ...entryOf(placeOf(held.target, requester)) }
  const claim = lease.claim(deadline)
  if (!claim) throw new Error(`The upload ${held.id} was placed without a claim`)
  await claim.complete(entry, deadline)
  lease.endedByClaim()
  return undefined
}

/**
 * Places an upload that has all of its bytes. Errors: unavailable and PartMissing, after which the upload stays open.
 * Any other error has ended the upload.
 */
export const settleUpload = async (deps: UploadsDeps, requester: Requester, upload: Upload): Promise<Upload> => {
  if (!isWaiting(upload)) return upload
  const { held, lease } = await acquireLease(deps, upload)
  await using _lease = lease
  const holding = await takeOver(deps, requester, held, lease)
  if (holding) return await completeUpload(deps, requester, { ...held, holding }, lease, holding === held.holding)
  return completed(held, deps)
}

/** Removes an upload, but not a file that it has placed. Errors: unavailable, while another request places the upload. */
export const withdrawUpload = async (deps: UploadsDeps, requester: Requester, upload: Upload): Promise<void> => {
  if (!isWaiting(upload)) return await discardUpload(deps, upload)
  const { held, lease } = await acquireLease(deps, upload)
  await using _lease = lease
  const holding = await takeOver(deps, requester, held, lease)
  await discardUpload(deps, held, holding !== undefined)
}

/** Takes the lease of a direct upload, unless it is complete or waiting. Other uploads are returned without a lease. */
export const beginCompletion = async (deps: UploadsDeps, requester: Requester, id: string) => {
  const taken = await takeLease(deps, { id, offset: 0 }, requester)
  if (taken.outcome !== 'taken') {
    const upload = await findUpload(deps, requester, id)
    if (!upload.target.isDirect || upload.isComplete || isWaiting(upload)) return { upload }
    throw busyUpload('uploadLocked', taken.outcome === 'held' ? taken.left : undefined)
  }
  const { held, lease } = taken
  await using leased = new AsyncDisposableStack()
  leased.use(lease)
  requireScope(requester, storedPath(held.target.path))
  if (!held.target.isDirect) return { upload: held }
  leased.move()
  return { upload: held, lease }
}

/**
 * Places a direct upload whose parts are all stored. Errors: storageRefused for a missing part, after which the upload
 * stays open.
 */
export const completeParts = async (
  deps: UploadsDeps,
  requester: Requester,
  { upload, lease }: Awaited<ReturnType<typeof beginCompletion>>,
): Promise<Upload> => {
  if (!lease) return settleUpload(deps, requester, upload)
  await using _lease = lease
  const { name, parts, tail } = holdingOf(upload)
  const whole = { ...upload, offset: upload.length ?? 0, holding: { name, parts, tail: tail ?? name } }
  return await completeUpload(deps, requester, whole, lease, false)
}

const checkNoBytes = (checksum: Announcement['checksum']): void => {
  if (checksum && !createHash(checksum.algorithm).digest().equals(checksum.value))
    throw new ServiceError('chunkMismatch')
}

export const beginAppend = async (deps: UploadsDeps, requester: Requester, id: string, addition: Announcement) => {
  const { offset, length, declared, checksum } = addition
  // No upload reaches this offset, and the number may be too large for a store. So this does not ask the store.
  if (declared === 0 || offset > deps.largestResumableFile) {
    const upload = await findUpload(deps, requester, id)
    if (upload.target.isDirect) throw new ServiceError('uploadUnknown')
    if (offset > upload.limit) throw new ServiceError('offsetMismatch')
    const isUnchanged = offset === upload.offset && (length === undefined || length === upload.length)
    if (declared === 0 && isUnchanged) {
      checkNoBytes(checksum)
      return { upload }
    }
  }
  const { held, lease } = await acquireLease(deps, { id, offset }, requester)
  await using leased = new AsyncDisposableStack()
  leased.use(lease)
  if (held.target.isDirect) throw new ServiceError('uploadUnknown')
  requireScope(requester, storedPath(held.target.path))
  leased.move()
  return { upload: held, lease }
}

export const completeAppend = async (
  deps: UploadsDeps,
  requester: Requester,
  { upload, lease }: Awaited<ReturnType<typeof beginAppend>>,
  addition: Addition,
): Promise<Upload> => {
  if (!lease) return settleUpload(deps, requester, upload)
  await using _lease = lease
  const grown = await appendBytes(deps, upload, lease, addition)
  return isWaiting(grown) ? await completeUpload(deps, requester, grown, lease) : grown
}

/**
 * Takes the bytes that come with the creation, and places the upload if it is empty. If the bytes are refused, nothing
 * of the upload is left.
 */
export const fillUpload = async (deps: UploadsDeps, requester: Requester, upload: Upload, first?: Addition) => {
  try {
    if (!first) return await settleUpload(deps, requester, upload)
    return await completeAppend(deps, requester, await beginAppend(deps, requester, upload.id, first), first)
  } catch (error) {
    await discardUpload(deps, upload).catch(() => {})
    throw error
  }
}
