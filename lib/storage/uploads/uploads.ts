import { randomBytes } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Requester } from '../changes/change.ts'
import { toStoragePath } from '../path.ts'
import type { Quotas } from '../quota.ts'
import { requireScope } from '../scope.ts'
import { type DirectParts, requireDirectParts, requireParts } from './direct-parts.ts'
import type { LeaseTerms } from './lease.ts'
import { admitUpload, type PlacementDeps, type UploadRequest } from './placement.ts'
import {
  countedBytes,
  expiryOf,
  isExpired,
  isWaiting,
  lastExpiryOf,
  mostOpen,
  requireLength,
  type Upload,
} from './upload.ts'
import type { UploadRecords } from './upload-stores.ts'

export interface UploadsDeps extends PlacementDeps {
  readonly uploadRecords: UploadRecords
  readonly directParts?: DirectParts | undefined
  readonly clock: Clock
  readonly lease: LeaseTerms
  readonly quotas?: Quotas | undefined
}

export const newId = (): string => randomBytes(16).toString('hex')

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

/** Removes an upload. A placed file stays. An upload with all of its bytes counts as placed, unless `isRefused`. */
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
