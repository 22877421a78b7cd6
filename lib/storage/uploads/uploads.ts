import { randomBytes } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'
import { mediaType } from '../../core/headers.ts'
import { settleAll } from '../../core/in-parallel.ts'
import type { Clock } from '../../core/time.ts'
import type { Requester, StorageStores } from '../changes/change.ts'
import { isInWorkflow, type Place } from '../changes/look.ts'
import { admit, editionOf } from '../changes/put.ts'
import { readConditions } from '../conditions.ts'
import { partLength } from '../content.ts'
import { contentTypeOf, isTemplate } from '../file-kind.ts'
import {
  childOf,
  fileKey,
  foldCase,
  folderKey,
  nameOf,
  parseFileName,
  requireScope,
  type StoragePath,
  storedPath,
} from '../path.ts'
import type { Quotas } from '../quota.ts'
import { refuse, storageRefused } from '../refusals.ts'
import { resolveFolder } from '../resolve-path.ts'
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

export const wantedParts = (
  { length }: Pick<Upload, 'length'>,
  first: number,
  digests: readonly string[],
): readonly WantedPart[] => {
  const last = countOf(length ?? 0)
  if (first + digests.length - 1 > last)
    throw storageRefused(`The upload has ${last} parts, from 1 to ${last}. Request addresses of these parts only.`)
  return digests.map((sha256, index) => ({ number: first + index, sha256 }))
}

export const wholeParts = (stored: readonly StoredPart[], { length }: Pick<Upload, 'length'>): readonly StoredPart[] =>
  stored.filter(({ number, size }) => size === sizeOf(number, length ?? 0))

export class PartMissing extends ServiceError {}

/** Errors: PartMissing, which leaves the upload open. */
export const requireParts = (stored: readonly StoredPart[], upload: Pick<Upload, 'length'>): void => {
  const numbers = new Set(wholeParts(stored, upload).map(({ number }) => number))
  for (let number = 1; number <= countOf(upload.length ?? 0); number++) {
    if (numbers.has(number)) continue
    const size = sizeOf(number, upload.length ?? 0)
    const message = `Part ${number} is missing. Request its address, send its ${size} bytes, then complete the upload.`
    throw new PartMissing('storageRefused', { message })
  }
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

const resolveInFolder = async ({ files }: StorageStores, folder: StoragePath, name: string, requester: Requester) => {
  const { site, isCaseSensitive } = requester
  const inside = { path: childOf(folder, name), into: folder }
  if (foldCase(nameOf(folder)) !== foldCase(name)) return inside
  const found = isCaseSensitive ? folder : await resolveFolder(files, requester, folder)
  if (nameOf(found) !== name || (await files.exists(folderKey('live', site, found)))) return inside
  return { path: found, into: found }
}

const placeFor = async (deps: UploadsDeps, request: UploadRequest, requester: Requester): Promise<Place> => {
  const { fileName, version, folder } = request
  const name = parseFileName(fileName ?? '')
  if (version !== undefined && version !== 'draft' && version !== 'draft-publish')
    throw storageRefused('version in Upload-Metadata must be draft or draft-publish, or be left out.')
  const where = await resolveInFolder(deps, folder, name, requester)
  // An upload without a version leaves the draft unchanged, as a form does.
  const drafts = { asDraft: version === 'draft', keepsDraft: version === undefined }
  return { site: requester.site, ...where, kind: 'file', ...drafts }
}

const targetAt = (place: Place, { fileType, ifMatch, ifNoneMatch }: UploadRequest, isDirect: boolean): Target => {
  const { site, path, into, keepsDraft } = place
  const edition = editionOf(place)
  const type = mediaType(fileType)
  return {
    path,
    folder: into,
    ...(keepsDraft && { keepsDraft }),
    ...(isDirect && { isDirect }),
    asDraft: edition === 'draft',
    key: fileKey(edition, site, path),
    contentType: contentTypeOf(nameOf(path), type === fileType?.toLowerCase() ? type : undefined),
    ifMatch,
    ifNoneMatch,
  }
}

/** Checks a new upload, and begins it in the store of its bytes. `undo` removes it there, until it is recorded. */
export const prepareUpload = async (
  deps: UploadsDeps,
  uploader: Requester,
  { request, length, metadata }: Pick<Upload, 'length' | 'metadata'> & { readonly request: UploadRequest },
  direct?: DirectParts,
) => {
  const id = newId()
  const { site, author } = uploader
  const requester = requesterOf(uploader, request)
  const place = await placeFor(deps, request, requester)
  await using undo = new AsyncDisposableStack()
  const begin = async (target: Target) => {
    const holding = await (direct ? direct.begin({ id, target }) : deps.uploadParts.begin(target))
    const remove = () => deps.uploadParts.remove({ id, target, holding }).catch(() => {})
    undo.defer(remove)
    return { target, holding, remove }
  }
  const written = targetAt(place, request, direct !== undefined)
  // The path is nearly always spelled as in the store.
  const [{ place: found }, early] = await settleAll([admit(deps, place, requester), begin(written)])
  refuse([(await isInWorkflow(deps, site, [found.path])) && 'workflowUpdated'])
  const largest = deps.largestResumableFile
  // S3 can read an upload before its placement only if the upload has one part.
  const limit = isTemplate(found.path) ? Math.min(largest, partLength) : largest
  if (length !== null && length > limit) throw uploadTooLarge(limit)
  const counted = countedBytes({ length, offset: 0 })
  const reservation = await deps.quotas?.reserve(site, { bytes: counted })
  undo.defer(async () => reservation?.release(counted).catch(() => {}))
  const spelled = targetAt(found, request, direct !== undefined)
  const isAsWritten = spelled.key === written.key
  if (!isAsWritten) await early.remove()
  const { target, holding } = isAsWritten ? early : await begin(spelled)
  const created = deps.clock.wall()
  const upload: Upload = {
    id,
    site,
    user: author.actor,
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
  return { upload, undo: undo.move() }
}

type PreparedUpload = Awaited<ReturnType<typeof prepareUpload>>

export const recordUpload = async (deps: UploadsDeps, { upload, undo }: PreparedUpload): Promise<Upload> => {
  await using abandoned = undo
  if (!(await deps.uploadRecords.create(upload, mostOpen, upload.created)))
    throw storageRefused(`You have ${mostOpen} open uploads on this site. Complete or cancel some of them first.`)
  abandoned.move()
  return upload
}

/** Removes an upload. A placed file stays. An upload with all of its bytes counts as placed, unless `isRefused`. */
export const discardUpload = async (
  { uploadRecords, uploadParts, quotas, clock }: UploadsDeps,
  { id, site, target }: Pick<Upload, 'id' | 'site' | 'target'>,
  isRefused?: boolean,
): Promise<void> => {
  const reservation = await quotas?.reserve(site, { bytes: 0 })
  const removed = await uploadRecords.remove(id)
  if (!removed?.holding) return
  // A recount may have left out the bytes of an expired upload.
  const isCounted = removed.expires > clock.wall()
  if (isCounted && (isRefused || !isWaiting(removed))) await reservation?.release(countedBytes(removed))
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
