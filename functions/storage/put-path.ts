import type { StorageDeps } from '../../lib/deps.ts'
import { type OperationHandler, operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import { createFolder } from '../../lib/storage/create-folder.ts'
import { rename } from '../../lib/storage/rename.ts'
import type { Answer } from '../contract.ts'
import type { success } from './contract.ts'
import { isMultipart } from './incoming-files.ts'
import { pathOf, queryValue } from './params.ts'
import { putFileContent } from './put-file.ts'
import { upload } from './upload.ts'

const succeeded: Answer<typeof success> = { status: 'success' }

/** PUT with `?meta` and `{"name": …}`: gives a file or folder another name. 200 with the status; 404/104001 when it is not there. */
const renamePath = (deps: StorageDeps) =>
  operation(
    {
      params: pathOf,
      body: { schema: async () => (await import('./switches.ts')).newNameBody, malformed: 'storageRefused' },
    },
    async ({ site, params, body, remainingTime, author }) => {
      await rename(deps, site.id, params.path, body.name, remainingTime(), author)
      return ok({ value: succeeded })
    },
  )

/** PUT with `?type=folder`: creates a folder, which may be there already. 200 with the status. */
const putFolder = (deps: StorageDeps) =>
  operation({ params: pathOf }, async ({ site, params, author }) => {
    await createFolder(deps, site.id, params.path, author)
    return ok({ value: succeeded })
  })

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
