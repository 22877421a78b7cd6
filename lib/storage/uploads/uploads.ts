import { randomBytes } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'
import { mediaType } from '../../core/headers.ts'
import type { Clock } from '../../core/time.ts'
import type { Requester, StorageStores } from '../changes/change.ts'
import { isInWorkflow } from '../changes/look.ts'
import { admit, editionOf, resolveInFolder } from '../changes/put.ts'
import { readConditions } from '../conditions.ts'
import { partLength } from '../content.ts'
import { contentTypeOf, isTemplate, largestResumableTemplate } from '../file-kind.ts'
import { fileKey, nameOf, parseFileName, requireScope, type StoragePath, storedPath } from '../path.ts'
import type { Quotas } from '../quota.ts'
import { refuse, storageRefused } from '../refusals.ts'
import {
  countedBytes,
  type DirectParts,
  firstExpiryOf,
  isWaiting,
  type StoredPart,
  type Target,
  type Upload,
  type UploadParts,
  type UploadRecords,
  type WantedPart,
} from './upload.ts'

export const uploadTooLarge = (limit: number, length: number | null = null): ServiceError =>
  new ServiceError('uploadTooLarge', {
    message:
      length === null
        ? `The upload is larger than the ${limit} bytes allowed here. Send a smaller file.`
        : `The upload has ${length} bytes in all, and these bytes would exceed its end. Send only the rest.`,
  })

export const requireDirectParts = (parts: DirectParts | undefined): DirectParts => {
  if (parts) return parts
  throw storageRefused('This installation offers no addresses of parts. Send the file as a resumable upload (tus 1.0).')
}

const countOf = (length: number): number => Math.ceil(length / partLength)

const sizeOf = (number: number, length: number): number => Math.min(partLength, length - (number - 1) * partLength)

export const wantedParts = ({ length }: Upload, first: number, digests: readonly string[]): readonly WantedPart[] => {
  const last = countOf(length ?? 0)
  if (first + digests.length - 1 > last)
    throw storageRefused(`The upload has ${last} parts, from 1 to ${last}. Request addresses of these parts only.`)
  return digests.map((sha256, index) => ({ number: first + index, sha256 }))
}

export const wholeParts = (stored: readonly StoredPart[], { length }: Upload): readonly StoredPart[] =>
  stored.filter(({ number, size }) => size === sizeOf(number, length ?? 0))

/** The entity tags of the parts. Errors: storageRefused, which names a missing part and leaves the upload open. */
export const tagsOf = (stored: readonly StoredPart[], upload: Upload): readonly string[] => {
  const parts = new Map(wholeParts(stored, upload).map(({ number, tag }) => [number, tag]))
  return Array.from({ length: countOf(upload.length ?? 0) }, (_, index) => {
    const tag = parts.get(index + 1)
    if (tag !== undefined) return tag
    const size = sizeOf(index + 1, upload.length ?? 0)
    throw storageRefused(
      `Part ${index + 1} is missing. Request its address, send its ${size} bytes, then complete the upload.`,
    )
  })
}

interface UploadRequest {
  readonly folder: StoragePath
  readonly fileName: string | undefined
  readonly fileType: string | undefined
  readonly version: string | undefined
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
}

export interface LeaseTerms {
  readonly lasts: number
  readonly renewsEvery?: number
}

export const renewedLease: LeaseTerms = { lasts: 15_000, renewsEvery: 5_000 }

export interface UploadsDeps extends StorageStores {
  readonly uploadParts: UploadParts
  readonly largestResumableFile: number
  readonly uploadRecords: UploadRecords
  readonly directParts?: DirectParts | undefined
  readonly clock: Clock
  readonly lease: LeaseTerms
  readonly quotas?: Quotas | undefined
}

const mostOpen = 1_000

export const newId = (): string => randomBytes(16).toString('hex')

export const requesterOf = (
  uploader: Requester,
  { ifMatch, ifNoneMatch }: Pick<Target, 'ifMatch' | 'ifNoneMatch'>,
): Requester => ({ ...uploader, ...readConditions(ifMatch, ifNoneMatch) })

const admitUpload = async (deps: UploadsDeps, request: UploadRequest, uploader: Requester) => {
  const { site } = uploader
  const name = parseFileName(request.fileName ?? '')
  const { version, fileType, ifMatch, ifNoneMatch } = request
  if (version !== undefined && version !== 'draft' && version !== 'draft-publish')
    throw storageRefused('version in Upload-Metadata must be draft or draft-publish, or be left out.')
  const requester = requesterOf(uploader, request)
  const where = await resolveInFolder(deps, request.folder, name, requester)
  // An upload without a version leaves the draft unchanged, as a form does.
  const drafts = { asDraft: version === 'draft', keepsDraft: version === undefined }
  const admitted = await admit(deps, { site, ...where, kind: 'file', ...drafts }, requester)
  const { path, into, keepsDraft } = admitted.place
  refuse([(await isInWorkflow(deps, site, [path])) && 'workflowUpdated'])
  const edition = editionOf(admitted.place)
  const type = mediaType(fileType)
  const largest = deps.largestResumableFile
  return {
    target: {
      path,
      folder: into,
      ...(keepsDraft && { keepsDraft }),
      asDraft: edition === 'draft',
      key: fileKey(edition, site, path),
      contentType: contentTypeOf(nameOf(path), type === fileType?.toLowerCase() ? type : undefined),
      ifMatch,
      ifNoneMatch,
    },
    limit: isTemplate(path) ? Math.min(largest, largestResumableTemplate) : largest,
  }
}

export const openUpload = async (
  deps: UploadsDeps,
  requester: Requester,
  { request, length, metadata }: Pick<Upload, 'length' | 'metadata'> & { readonly request: UploadRequest },
  direct?: DirectParts,
): Promise<Upload> => {
  const { target: admitted, limit } = await admitUpload(deps, request, requester)
  if (length !== null && length > limit) throw uploadTooLarge(limit)
  const created = deps.clock.wall()
  const target = { ...admitted, ...(direct && { isDirect: true }) }
  const id = newId()
  const counted = countedBytes({ length, offset: 0 })
  const reservation = await deps.quotas?.reserve(requester.site, counted)
  const begun = direct ? direct.begin({ id, target }) : deps.uploadParts.begin(target)
  const holding = await begun.catch(async (error: unknown) => {
    await reservation?.release(counted)
    throw error
  })
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
    expires: firstExpiryOf(created, direct !== undefined),
    holding,
  }
  if (await deps.uploadRecords.create(upload, mostOpen, created)) return upload
  await reservation?.release(counted)
  await deps.uploadParts.remove({ id, target, holding })
  throw storageRefused(`You have ${mostOpen} open uploads on this site. Complete or cancel some of them first.`)
}

/** Removes an upload. A placed file stays. An upload with all of its bytes counts as placed, unless `isRefused`. */
export const discardUpload = async (
  { uploadRecords, uploadParts, quotas }: UploadsDeps,
  { id, site, target }: Pick<Upload, 'id' | 'site' | 'target'>,
  isRefused?: boolean,
): Promise<void> => {
  const reservation = await quotas?.reserve(site, 0)
  const removed = await uploadRecords.remove(id)
  if (!removed?.holding) return
  if (isRefused || !isWaiting(removed)) await reservation?.release(countedBytes(removed))
  await uploadParts.remove({ id, target, holding: removed.holding })
}

/**
 * Returns the upload of the requester. A store may remove expired uploads late, so this checks the expiry. Errors:
 * uploadUnknown, privilegesMissing.
 */
export const findUpload = async (deps: UploadsDeps, requester: Requester, id: string): Promise<Upload> => {
  const upload = await deps.uploadRecords.get(id)
  if (upload && upload.expires <= deps.clock.wall()) await discardUpload(deps, upload).catch(() => {})
  else if (upload?.site === requester.site && upload.user === requester.author.actor) {
    requireScope(requester, storedPath(upload.target.path))
    return upload
  }
  throw new ServiceError('uploadUnknown')
}
