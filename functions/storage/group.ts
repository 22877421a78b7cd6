import { storageRoutes } from '../../lib/contract/routes/storage.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { OperationHandler } from '../../lib/http/operation.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { isTus } from '../../lib/storage/uploads/tus.ts'
import { deletePath, putPath, restorePath } from './change-path.ts'
import { beginParts, completeUpload, readUpload } from './direct-upload.ts'
import { listChanges } from './list-changes.ts'
import { readPath, readRoot } from './read-path.ts'
import * as tus from './resumable-upload.ts'
import { upload } from './upload.ts'

type Operation = OperationHandler<StorageDeps>

const uploadFiles = upload()

const uploadTo: Operation = (request, deps) => {
  if (request.query.has('restore')) return restorePath(request, deps)
  if (request.query.has('parts')) return beginParts(request, deps)
  return (isTus(request.headers) ? tus.createUpload : uploadFiles)(request, deps)
}

const appendToUpload: Operation = (request, deps) =>
  (isTus(request.headers) ? tus.appendToUpload : completeUpload)(request, deps)

const operations = {
  uploadToFolder: uploadTo,
  uploadToRoot: uploadTo,
  readRoot,
  readPath,
  deletePath,
  deleteRoot: deletePath,
  putPath,
  putRoot: putPath,
  describeUpload: tus.describeUpload,
  readUpload,
  appendToUpload,
  cancelUpload: tus.cancelUpload,
  listChanges,
}

export const createStorageHandler = (deps: StorageDeps): Handler =>
  createHandler('storage', storageRoutes, operations, deps, (request) =>
    tus.asTusRequest(request, deps.largestResumableFile),
  )
