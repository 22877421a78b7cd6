import type { StorageDeps } from '../../lib/deps.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { OperationHandler } from '../../lib/http/operation.ts'
import type { Handler } from '../../lib/http/request.ts'
import { routesOf } from '../group-routes.ts'
import type { OperationOf } from '../routes.ts'
import { deletePath } from './delete-path.ts'
import { putPath } from './put-path.ts'
import { readPath, readRoot } from './read-path.ts'
import { upload } from './upload.ts'

/** The handler of this group: its routes from the route table, with the operation behind each. */
export const createStorageHandler = (deps: StorageDeps): Handler => {
  const operations: Record<OperationOf<'storage'>, OperationHandler> = {
    uploadToFolder: upload(deps),
    uploadToRoot: upload(deps),
    readRoot: readRoot(deps),
    readPath: readPath(deps),
    deletePath: deletePath(deps),
    deleteRoot: deletePath(deps),
    putPath: putPath(deps),
    putRoot: putPath(deps),
  }
  return createHandler('storage', routesOf('storage'), operations, deps.edge)
}
