import type { StorageDeps } from '../../lib/deps.ts'
import type { OperationHandler } from '../../lib/http/operation.ts'
import { isMultipart } from './incoming-files.ts'
import { queryValue } from './params.ts'
import { putFileContent } from './put-file.ts'
import { putFolder } from './put-folder.ts'
import { renamePath } from './rename-path.ts'
import { upload } from './upload.ts'

/** What a PUT asks for, by its query and its media type: a new name, a folder, an upload like POST's, or the content of a file. */
export const putPath = (deps: StorageDeps): OperationHandler => {
  const operations = {
    rename: renamePath(deps),
    folder: putFolder(deps),
    upload: upload(deps),
    content: putFileContent(deps),
  }
  return (exchange) => {
    if (exchange.query.has('meta')) return operations.rename(exchange)
    if (queryValue(exchange.query, 'type') === 'folder') return operations.folder(exchange)
    return isMultipart(exchange.headers['content-type']) ? operations.upload(exchange) : operations.content(exchange)
  }
}
