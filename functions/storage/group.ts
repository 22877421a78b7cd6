import { storageRoutes } from '../../lib/contract/routes/storage.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { deletePath, postPath, putPath } from './change-path.ts'
import { listChanges } from './list-changes.ts'
import { readPath, readRoot } from './read-path.ts'
import * as uploads from './resumable-upload.ts'

const operations = {
  uploadToFolder: postPath,
  uploadToRoot: postPath,
  readRoot,
  readPath,
  deletePath,
  deleteRoot: deletePath,
  putPath,
  putRoot: putPath,
  describeUpload: uploads.describeUpload,
  readUpload: uploads.readUpload,
  appendToUpload: uploads.appendToUpload,
  cancelUpload: uploads.cancelUpload,
  listChanges,
}

export const createStorageHandler = (deps: StorageDeps): Handler =>
  createHandler('storage', storageRoutes, operations, deps, (request) =>
    uploads.asTusRequest(request, deps.largestResumableFile),
  )
