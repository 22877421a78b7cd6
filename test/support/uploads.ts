import type { Requester } from '../../lib/storage/changes/change.ts'
import type { Claim } from '../../lib/storage/object-store.ts'
import { beginAppend, completeAppend, fillUpload } from '../../lib/storage/uploads/append.ts'
import { settleUpload } from '../../lib/storage/uploads/complete-upload.ts'
import type { Addition } from '../../lib/storage/uploads/upload.ts'
import { findUpload, openUpload, type UploadsDeps } from '../../lib/storage/uploads/uploads.ts'

/** A claim that nobody else takes over, for uploads without records. */
export const ownClaim: Claim = { isHeld: async () => true, complete: async () => {} }

/** Resumable uploads without HTTP: one call for each request. */
export const uploadsOf = (deps: UploadsDeps) => ({
  create: async (requester: Requester, beginning: Parameters<typeof openUpload>[2]) =>
    fillUpload(deps, requester, await openUpload(deps, requester, beginning), undefined),
  find: async (requester: Requester, id: string) =>
    settleUpload(deps, requester, await findUpload(deps, requester, id)),
  append: async (requester: Requester, id: string, addition: Addition) =>
    completeAppend(deps, requester, await beginAppend(deps, requester, id, addition), addition),
})
