import type { Answer } from '../../lib/contract/contract.ts'
import type { success } from '../../lib/contract/storage/contract-schemas.ts'
import { type OperationHandler, operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import { firstValue, type Request, type Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { createFolder } from '../../lib/storage/create-folder.ts'
import { putFile } from '../../lib/storage/put-file.ts'
import { relocate } from '../../lib/storage/relocate.ts'
import { fileTooLarge } from '../../lib/storage/stage-file.ts'
import { isMultipart } from './incoming-files.ts'
import { pathOf, readSwitches, requesterOf } from './params.ts'
import { declaredLength, receiveUpload, upload } from './upload.ts'

const succeeded: Answer<typeof success> = { status: 'success' }

/**
 * PUT with `?meta`: gives a file or folder another name by `{"name": …}`, moves it by `{"path": …}`, copies it by
 * `{"copyTo": …}`. 200 with the status; 404/104001 when it is not there.
 */
const relocatePath = (deps: StorageDeps) =>
  operation(
    {
      params: pathOf,
      body: {
        schema: async () => (await import('../../lib/contract/storage/switches.ts')).destinationBody,
        malformed: 'storageRefused',
      },
    },
    async (input) => {
      await relocate(deps, input.site.id, input.params.path, input.body, requesterOf(input))
      return ok({ value: succeeded })
    },
  )

const putFolder = (deps: StorageDeps) =>
  operation({ params: pathOf }, async (input) => {
    await createFolder(deps, input.site.id, input.params.path, requesterOf(input))
    return ok({ value: succeeded })
  })

/** The query and the media type of a PUT select the operation. */
export const putPath = (deps: StorageDeps): OperationHandler => {
  const operations = {
    relocation: relocatePath(deps),
    folder: putFolder(deps),
    upload: upload(deps),
    content: putFileContent(deps),
  }
  return (exchange) => {
    if (exchange.query.has('meta')) return operations.relocation(exchange)
    if (firstValue(exchange.query, 'type') === 'folder') return operations.folder(exchange)
    return isMultipart(exchange.headers['content-type']) ? operations.upload(exchange) : operations.content(exchange)
  }
}

const mediaType = /^\s*([!#$&^_.+0-9A-Za-z-]{1,64}\/[!#$&^_.+0-9A-Za-z-]{1,64})\s*(?:;|$)/

const asDraft = async (query: Switches): Promise<boolean> => {
  const { version } = await readSwitches(
    { version: query.get('version') },
    async () => (await import('../../lib/contract/storage/switches.ts')).putSwitches,
  )
  return version === 'draft'
}

/**
 * The body as it must come by the digests in the request. What checks them is loaded with the first one. Errors:
 * checksumMismatch.
 */
const checkedContent = async ({ headers }: Pick<Request, 'headers'>) => {
  if (headers['content-md5'] === undefined && headers['content-digest'] === undefined) return undefined
  const { checkedBy, digestsOf } = await import('../../lib/http/content-digest.ts')
  const digests = digestsOf(headers)
  return (content: AsyncIterable<Uint8Array>) => checkedBy(digests, content)
}

/** PUT of a file: the body is its content (S-47). 200 with the status. */
const putFileContent = (deps: StorageDeps) =>
  operation({ params: pathOf, query: asDraft }, async (input) => {
    if ((declaredLength(input) ?? 0) > deps.largestFile) throw fileTooLarge(deps.largestFile)
    const contentType = mediaType.exec(input.headers['content-type'] ?? '')?.[1]?.toLowerCase()
    const requester = requesterOf(input)
    const checked = await checkedContent(input)
    return receiveUpload(deps, input, (body) => {
      const content = checked?.(body) ?? body
      return putFile(deps, input.site.id, input.params.path, input.query, { contentType, content }, requester)
    })
  })
