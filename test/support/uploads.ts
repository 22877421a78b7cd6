import { roles } from '../../lib/access/people.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { unlimited } from '../../lib/core/time.ts'
import type { Requester } from '../../lib/storage/changes/change.ts'
import { beginAppend, completeAppend, fillUpload, settleUpload } from '../../lib/storage/uploads/continue-upload.ts'
import type { Addition } from '../../lib/storage/uploads/upload.ts'
import { findUpload, prepareUpload, recordUpload, type UploadsDeps } from '../../lib/storage/uploads/uploads.ts'

const scope = { site: 1001 as SiteId, rights: roles.owner.rights, level: 'write' } as const
const uploader: Requester = { ...scope, author: { actor: 'ann' }, deadline: unlimited, conditions: {} }

/** Resumable uploads of one user without HTTP: one call for each request. */
export const uploadsOf = (deps: UploadsDeps) => ({
  create: async (beginning: Parameters<typeof prepareUpload>[2]) =>
    fillUpload(deps, uploader, await recordUpload(deps, await prepareUpload(deps, uploader, beginning))),
  find: async (id: string) => settleUpload(deps, uploader, await findUpload(deps, uploader, id)),
  append: async (id: string, addition: Addition) =>
    completeAppend(deps, uploader, await beginAppend(deps, uploader, id, addition), addition),
})
