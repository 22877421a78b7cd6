import { storageRoutes } from '../../lib/contract/routes/storage.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { OperationHandler } from '../../lib/http/operation.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { isTus } from '../../lib/storage/uploads/tus.ts'
import { deletePath, putPath, restorePath } from './change-path.ts'
import { listChanges } from './list-changes.ts'
import { readPath, readRoot } from './read-path.ts'
import * as uploads from './resumable-upload.ts'
import { upload } from './upload.ts'

type Operation = OperationHandler<StorageDeps>

const uploadFiles = upload()

const uploadTo: Operation = (request, deps) => {
  if (request.query.has('restore')) return restorePath(request, deps)
  if (request.query.has('parts')) return uploads.beginParts(request, deps)
  return (isTus(request.headers) ? uploads.createUpload : uploadFiles)(request, deps)
}

const appendToUpload: Operation = (request, deps) =>
  (isTus(request.headers) ? uploads.appendToUpload : uploads.completeUpload)(request, deps)

const operations = {
  uploadToFolder: uploadTo,
  uploadToRoot: uploadTo,
  readRoot,
  readPath,
  deletePath,
  deleteRoot: deletePath,
  putPath,
  putRoot: putPath,
  describeUpload: uploads.describeUpload,
  readUpload: uploads.readUpload,
  appendToUpload,
  cancelUpload: uploads.cancelUpload,
  listChanges,
}

export const createStorageHandler = (deps: StorageDeps): Handler =>
  createHandler('storage', storageRoutes, operations, deps, (request) =>
    uploads.asTusRequest(request, deps.largestResumableFile),
  )
