import { storageRoutes } from '../../lib/contract/routes/storage.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { deletePath, postPath, putPath } from './change-path.ts'
import { listChanges } from './list-changes.ts'
import { readPath, readRoot } from './read-path.ts'
import { appendToUpload, cancelUpload, describeUpload, readUpload } from './resumable-upload.ts'
import { asTusRequest } from './tus.ts'

const operations = {
  uploadToFolder: postPath,
  uploadToRoot: postPath,
  readRoot,
  readPath,
  deletePath,
  deleteRoot: deletePath,
  putPath,
  putRoot: putPath,
  describeUpload,
  readUpload,
  appendToUpload,
  cancelUpload,
  listChanges,
}

export const createStorageHandler = (deps: StorageDeps): Handler =>
  createHandler('storage', storageRoutes, operations, deps, (request) =>
    asTusRequest(request, deps.largestResumableFile),
  )
