import type { OperationOf } from '../../lib/contract/routes/routes.ts'
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
import { appendToUpload, asTusRequest, cancelUpload, createUpload, describeUpload } from './resumable-upload.ts'
import { upload } from './upload.ts'

export const createStorageHandler = (deps: StorageDeps): Handler => {
  const [restore, uploadFiles, beginUpload] = [restorePath(deps), upload(deps), createUpload(deps)]
  const [append, complete, startParts] = [appendToUpload(deps), completeUpload(deps), beginParts(deps)]
  const uploadTo: OperationHandler = (request) => {
    if (request.query.has('restore')) return restore(request)
    if (request.query.has('parts')) return startParts(request)
    return isTus(request.headers) ? beginUpload(request) : uploadFiles(request)
  }
  const operations: Record<OperationOf<'storage'>, OperationHandler> = {
    uploadToFolder: uploadTo,
    uploadToRoot: uploadTo,
    readRoot: readRoot(deps),
    readPath: readPath(deps),
    deletePath: deletePath(deps),
    deleteRoot: deletePath(deps),
    putPath: putPath(deps),
    putRoot: putPath(deps),
    describeUpload: describeUpload(deps),
    readUpload: readUpload(deps),
    appendToUpload: (request) => (isTus(request.headers) ? append(request) : complete(request)),
    cancelUpload: cancelUpload(deps),
    listChanges: listChanges(deps),
  }
  return createHandler('storage', storageRoutes, operations, deps.edge, (request) =>
    asTusRequest(request, deps.largestResumableFile),
  )
}
