import { ServiceError } from '../../lib/core/errors.ts'
import { isUnconditional } from '../../lib/storage/conditions.ts'
import { contentTypeOf, isPage, isTemplate } from '../../lib/storage/file-kind.ts'
import type { Staged } from '../../lib/storage/object-store.ts'
import { fileKey, nameOf, parseFileName, type StoragePath, toStoragePath } from '../../lib/storage/path.ts'
import { admitFile, type FilePlace, placeInFolder, putStaged, refuseWorkflow } from '../../lib/storage/put-file.ts'
import type { Requester, StorageStores } from '../../lib/storage/put-in-place.ts'
import { largestResumableTemplate, templateFault } from '../../lib/storage/template.ts'
import type { Asker, Destination } from '../../lib/storage/uploads/destination.ts'
import type { Target } from '../../lib/storage/uploads/upload.ts'
import { conditionsOf } from './params.ts'

/** Where a resumable upload should go, in the words of its request. */
export interface UploadWish {
  readonly folder: StoragePath
  readonly fileName: string | undefined
  readonly fileType: string | undefined
  readonly version: string | undefined
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
}

export interface UploadDestinationDeps extends StorageStores {
  /** Bytes. */
  readonly largestResumableFile: number
}

const mediaType = /^[!#$&^_.+0-9A-Za-z-]{1,64}\/[!#$&^_.+0-9A-Za-z-]{1,64}$/

/** The media type that came along; what is none is passed over, as in a PUT. */
const declaredType = (text: string | undefined): string | undefined =>
  text !== undefined && mediaType.test(text) ? text.toLowerCase() : undefined

const versions: readonly (string | undefined)[] = ['draft', 'draft-publish', undefined]

/** Whether the file is the draft of a page. Errors: storageRefused. */
const asDraft = ({ version }: Pick<UploadWish, 'version'>): boolean => {
  if (versions.includes(version)) return version === 'draft'
  throw new ServiceError('storageRefused', {
    message: 'version in Upload-Metadata must be draft or draft-publish, or be left out.',
  })
}

const requesterOf = (
  { author, remainingTime }: Asker,
  { ifMatch, ifNoneMatch }: Pick<Target, 'ifMatch' | 'ifNoneMatch'>,
): Requester & { readonly isAsWritten: boolean } => {
  const conditions = conditionsOf({
    ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
  })
  return { author, remainingTime, conditions, isAsWritten: !isUnconditional(conditions) }
}

const given = ({ ifMatch, ifNoneMatch }: UploadWish): Pick<Target, 'ifMatch' | 'ifNoneMatch'> => ({
  ...(ifMatch !== undefined && { ifMatch }),
  ...(ifNoneMatch !== undefined && { ifNoneMatch }),
})

/** The storage as resumable uploads see it: the rules of any upload, at creation and again when the bytes are put in place. */
export const createUploadDestination = (deps: UploadDestinationDeps): Destination<UploadWish, Staged> => ({
  async admit(wish, asker) {
    const { site } = asker
    const name = parseFileName(wish.fileName ?? '')
    const draft = asDraft(wish)
    const requester = requesterOf(asker, given(wish))
    const where = await placeInFolder(deps, { site, folder: wish.folder, name }, requester)
    // Without a version it is as if a form had brought it, which leaves drafts alone.
    const wanted: FilePlace = { site, ...where, asDraft: draft, keepsDraft: wish.version === undefined }
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
        contentType: contentTypeOf(nameOf(path), declaredType(wish.fileType)),
        ...given(wish),
      },
      limit: isTemplate(path) ? Math.min(largest, largestResumableTemplate) : largest,
    }
  },

  async put(target, bytes, asker) {
    const path = toStoragePath(target.path)
    const place: FilePlace = {
      site: asker.site,
      path,
      asDraft: target.asDraft,
      keepsDraft: target.keepsDraft ?? false,
      into: target.folder === undefined ? undefined : toStoragePath(target.folder),
    }
    // The path was found when the upload was created: it is not looked for anew.
    const requester = { ...requesterOf(asker, target), isAsWritten: true }
    const stage = async (): Promise<Staged> => {
      const fault = isTemplate(path) ? await templateFault(bytes.read()) : undefined
      if (fault) throw new ServiceError(fault)
      return bytes.whole()
    }
    await putStaged(deps, place, stage, requester)
  },
})
