import { createHash } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'
import type { Requester } from '../changes/change.ts'
import { requireScope, storedPath } from '../path.ts'
import { storageRefused } from '../refusals.ts'
import { acquireLease, completeUpload, type Lease, settleUpload } from './complete-upload.ts'
import {
  type Addition,
  type Announcement,
  countedBytes,
  holdingOf,
  isWaiting,
  progressOf,
  type Upload,
} from './upload.ts'
import { discardUpload, findUpload, type UploadsDeps, uploadTooLarge } from './uploads.ts'

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

const admitAppend = (upload: Upload, { offset, length: given, declared = 0 }: Announcement) => {
  if (offset !== upload.offset) {
    throw new ServiceError('offsetMismatch', {
      message: `The upload is at offset ${upload.offset}, not at ${offset}. Continue at ${upload.offset}.`,
    })
  }
  const length = lengthFrom(upload, given)
  const room = (length ?? upload.limit) - offset
  if (declared > room) throw uploadTooLarge(upload.limit, length)
  return { grown: { ...upload, length, holding: holdingOf(upload) }, room }
}

// Appends bytes under a lease, and ends the lease unless the upload has all of its bytes. If the connection breaks, the
// bytes that have arrived stay. Bytes that are wrong or too many are dropped. Without a declared length, the bytes up
// to the limit may stay.
const appendBytes = async (
  { uploadRecords, uploadParts, clock, quotas }: UploadsDeps,
  upload: Upload,
  lease: Lease,
  addition: Addition,
): Promise<Upload> => {
  const { id } = upload
  const { holder } = lease
  const { checksum } = addition
  const { grown, room } = admitAppend(upload, addition)
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
      refuseWrong(size > room && uploadTooLarge(grown.limit, grown.length))
      if (checksum) hash.update(chunk)
      yield chunk
    }
    refuseWrong(checksum && !hash.digest().equals(checksum.value) && new ServiceError('chunkMismatch'))
  }
  const durable = { size: 0, holding: grown.holding }
  // Records progress only if every counted byte is certain to stay. Bytes with a checksum may be refused, and so may
  // bytes that the quota does not count yet. Then each renewal only delays the expiry.
  const isCounted = upload.length !== null || (await quotas?.quotaOf(upload.site)) === undefined
  if (!checksum && isCounted) lease.recordAtRenewals(grown, durable)
  else lease.recordAtRenewals(upload, { size: 0, holding: grown.holding })
  const appended = await uploadParts.append(grown, upload.offset, admitted(), durable, lease.isOver)
  const { size, failure } = appended
  const stays = failure === undefined || (!wrong && size > 0 && !checksum)
  if (!stays) throw failure
  const progress = progressOf(grown, appended, clock.wall())
  await lease.stopRecording()
  const added = countedBytes(progress) - countedBytes(upload)
  if (added > 0) await quotas?.reserve(upload.site, added)
  // After the last byte the file is placed, so the lease stays.
  if (!(await uploadRecords.advance(id, holder, progress, progress.offset === grown.length))) {
    throw new ServiceError((await uploadRecords.get(id)) ? 'uploadLocked' : 'uploadUnknown')
  }
  if (failure !== undefined) throw failure
  return { ...upload, ...progress }
}

const isEmptyAddition = (upload: Upload, { offset, length, declared }: Announcement): boolean =>
  declared === 0 && offset === upload.offset && (length === undefined || length === upload.length)

interface BegunAppend {
  readonly upload: Upload
  readonly lease?: Lease
}

export const beginAppend = async (
  deps: UploadsDeps,
  requester: Requester,
  id: string,
  addition: Announcement,
): Promise<BegunAppend> => {
  const { offset, declared } = addition
  // No upload reaches this offset, and the number may be too large for a store. So this does not ask the store.
  if (declared === 0 || offset > deps.largestResumableFile) {
    const upload = await findUpload(deps, requester, id)
    if (upload.target.isDirect) throw new ServiceError('uploadUnknown')
    if (offset > upload.limit) throw new ServiceError('offsetMismatch')
    if (isEmptyAddition(upload, addition)) return { upload }
  }
  const { held, lease } = await acquireLease(deps, { id, offset }, 'uploadLocked', requester)
  try {
    if (held.target.isDirect) throw new ServiceError('uploadUnknown')
    requireScope(requester, storedPath(held.target.path))
  } catch (error) {
    await lease[Symbol.asyncDispose]()
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
  await using _lease = lease
  const grown = await appendBytes(deps, upload, lease, addition)
  if (isWaiting(grown)) return await completeUpload(deps, requester, grown, lease)
  lease.mustGiveBack = false
  return grown
}

/**
 * Takes the bytes that come with the creation, and places the upload if it is empty. If the bytes are refused, nothing
 * of the upload is left.
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
