import { ServiceError } from '../../core/errors.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import { mediaType } from '../../core/media-type.ts'
import { type Requester, refuse, type StorageStores } from '../changes/change.ts'
import { isInWorkflow } from '../changes/look.ts'
import { admitFile, editionOf, entryOf, placeInFolder, putStaged } from '../changes/put.ts'
import { isUnconditional, parseConditions } from '../conditions.ts'
import { contentTypeOf, isTemplate } from '../file-kind.ts'
import type { Staged } from '../object-store.ts'
import { fileKey, nameOf, parseFileName, type StoragePath, toStoragePath } from '../path.ts'
import { largestResumableTemplate, templateFault } from '../template.ts'
import type { Target } from './upload.ts'
import type { ClaimedUpload, UploadParts } from './upload-stores.ts'

export interface UploadRequest {
  readonly folder: StoragePath
  readonly fileName: string | undefined
  readonly fileType: string | undefined
  readonly version: string | undefined
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
}

export interface PlacementDeps extends StorageStores {
  readonly uploadParts: UploadParts<Staged>
  readonly largestResumableFile: number
}

const declaredType = (text: string | undefined): string | undefined => {
  const type = mediaType(text)
  return type === text?.toLowerCase() ? type : undefined
}

const versions: readonly (string | undefined)[] = ['draft', 'draft-publish', undefined]

const isForDraft = ({ version }: Pick<UploadRequest, 'version'>): boolean => {
  if (versions.includes(version)) return version === 'draft'
  throw new ServiceError('storageRefused', {
    message: 'version in Upload-Metadata must be draft or draft-publish, or be left out.',
  })
}

type Conditional = Pick<Target, 'ifMatch' | 'ifNoneMatch'>

const requesterOf = (uploader: Requester, { ifMatch, ifNoneMatch }: Conditional): Requester => {
  const conditions = parseConditions(ifMatch, ifNoneMatch)
  return { ...uploader, conditions, isCaseSensitive: !isUnconditional(conditions) }
}

const conditionalOf = ({ ifMatch, ifNoneMatch }: UploadRequest): Conditional => ({
  ...(ifMatch !== undefined && { ifMatch }),
  ...(ifNoneMatch !== undefined && { ifNoneMatch }),
})

/** Makes every check that needs no bytes. `limit` is the size of the largest upload, in bytes. */
export const admitUpload = async (
  deps: PlacementDeps,
  request: UploadRequest,
  uploader: Requester,
): Promise<{ readonly target: Target; readonly limit: number }> => {
  const { site } = uploader
  const name = parseFileName(request.fileName ?? '')
  const draft = isForDraft(request)
  const requester = requesterOf(uploader, conditionalOf(request))
  const where = await placeInFolder(deps, request.folder, name, requester)
  // An upload without a version leaves the draft unchanged, as a form does.
  const place = { site, ...where, kind: 'file', asDraft: draft, keepsDraft: request.version === undefined } as const
  const admitted = await admitFile(deps, place, requester)
  const { path, into, keepsDraft } = admitted.place
  refuse([(await isInWorkflow(deps, site, [path])) && 'workflowUpdated'])
  const edition = editionOf(admitted.place)
  const largest = deps.largestResumableFile
  return {
    target: {
      path,
      ...(into !== undefined && { folder: into }),
      ...(keepsDraft && { keepsDraft }),
      asDraft: edition === 'draft',
      key: fileKey(edition, site, path),
      contentType: contentTypeOf(nameOf(path), declaredType(request.fileType)),
      ...conditionalOf(request),
    },
    limit: isTemplate(path) ? Math.min(largest, largestResumableTemplate) : largest,
  }
}

const placeOf = ({ path, folder, asDraft, keepsDraft = false }: Target, { site }: Requester) =>
  ({
    site,
    asDraft,
    keepsDraft,
    kind: 'file',
    path: toStoragePath(path),
    into: folder === undefined ? undefined : toStoragePath(folder),
  }) as const

export const entryOfUpload = (target: Target, uploader: Requester): HistoryEntry => ({
  ...uploader.author,
  site: uploader.site,
  ...entryOf(placeOf(target, uploader)),
})

export const placeUpload = async (deps: PlacementDeps, whole: ClaimedUpload, uploader: Requester): Promise<void> => {
  const place = placeOf(whole.target, uploader)
  const { path } = place
  // The path was resolved when the upload was created, so it is not looked up again.
  const requester = { ...requesterOf(uploader, whole.target), isCaseSensitive: true }
  const seen = await admitFile(deps, place, requester)
  const fault = isTemplate(path) ? await templateFault(deps.uploadParts.read(whole)) : undefined
  refuse([fault])
  await putStaged(deps, seen, await deps.uploadParts.whole(whole), requester)
}
