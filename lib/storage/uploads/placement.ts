import type { Deadline } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Author } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { isUnconditional, parseConditions } from '../conditions.ts'
import type { Requester, StorageStores } from '../engine.ts'
import { contentTypeOf, isPage, isTemplate } from '../file-kind.ts'
import type { Staged } from '../object-store.ts'
import { fileKey, nameOf, parseFileName, type StoragePath, toStoragePath } from '../path.ts'
import { admitFile, type FilePlace, placeInFolder, putStaged, refuseWorkflow } from '../put-file.ts'
import { largestResumableTemplate, templateFault } from '../template.ts'
import type { Target } from './upload.ts'
import type { UploadParts, WholeUpload } from './upload-stores.ts'

export interface Uploader {
  readonly site: SiteId
  readonly author: Author
  readonly deadline: Deadline
}

export interface UploadRequest {
  readonly folder: StoragePath
  readonly fileName: string | undefined
  readonly fileType: string | undefined
  readonly version: string | undefined
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
}

export interface PlacementDeps extends StorageStores {
  readonly parts: UploadParts<Staged>
  /** Bytes. */
  readonly largestResumableFile: number
}

const mediaType = /^[!#$&^_.+0-9A-Za-z-]{1,64}\/[!#$&^_.+0-9A-Za-z-]{1,64}$/

const declaredType = (text: string | undefined): string | undefined =>
  text !== undefined && mediaType.test(text) ? text.toLowerCase() : undefined

const versions: readonly (string | undefined)[] = ['draft', 'draft-publish', undefined]

const asDraft = ({ version }: Pick<UploadRequest, 'version'>): boolean => {
  if (versions.includes(version)) return version === 'draft'
  throw new ServiceError('storageRefused', {
    message: 'version in Upload-Metadata must be draft or draft-publish, or be left out.',
  })
}

type Conditional = Pick<Target, 'ifMatch' | 'ifNoneMatch'>

const requesterOf = ({ author, deadline }: Uploader, { ifMatch, ifNoneMatch }: Conditional): Requester => {
  const conditions = parseConditions(ifMatch, ifNoneMatch)
  return { author, deadline, conditions, isCaseSensitive: !isUnconditional(conditions) }
}

const conditionalOf = ({ ifMatch, ifNoneMatch }: UploadRequest): Conditional => ({
  ...(ifMatch !== undefined && { ifMatch }),
  ...(ifNoneMatch !== undefined && { ifNoneMatch }),
})

/** Makes every check that needs no bytes. `limit`: the largest upload, in bytes. */
export const admitUpload = async (
  deps: PlacementDeps,
  request: UploadRequest,
  uploader: Uploader,
): Promise<{ readonly target: Target; readonly limit: number }> => {
  const { site } = uploader
  const name = parseFileName(request.fileName ?? '')
  const draft = asDraft(request)
  const requester = requesterOf(uploader, conditionalOf(request))
  const where = await placeInFolder(deps, { site, folder: request.folder, name }, requester)
  // Without a version, the upload leaves the draft alone, like a form.
  const wanted: FilePlace = { site, ...where, asDraft: draft, keepsDraft: request.version === undefined }
  const { place } = await admitFile(deps, wanted, requester)
  await refuseWorkflow(deps, place)
  const { path, into, keepsDraft } = place
  const isDraft = draft && isPage(path)
  const largest = deps.largestResumableFile
  return {
    target: {
      path,
      ...(into !== undefined && { folder: into }),
      ...(keepsDraft && { keepsDraft }),
      asDraft: isDraft,
      key: fileKey(isDraft ? 'draft' : 'live', site, path),
      contentType: contentTypeOf(nameOf(path), declaredType(request.fileType)),
      ...conditionalOf(request),
    },
    limit: isTemplate(path) ? Math.min(largest, largestResumableTemplate) : largest,
  }
}

export const placeUpload = async (deps: PlacementDeps, whole: WholeUpload, uploader: Uploader): Promise<void> => {
  const { target } = whole
  const path = toStoragePath(target.path)
  const place: FilePlace = {
    site: uploader.site,
    path,
    asDraft: target.asDraft,
    keepsDraft: target.keepsDraft ?? false,
    into: target.folder === undefined ? undefined : toStoragePath(target.folder),
  }
  const stage = async (): Promise<Staged> => {
    const fault = isTemplate(path) ? await templateFault(deps.parts.read(whole)) : undefined
    if (fault) throw new ServiceError(fault)
    return deps.parts.whole(whole)
  }
  // The path was resolved when the upload was created.
  await putStaged(deps, place, stage, { ...requesterOf(uploader, target), isCaseSensitive: true })
}
