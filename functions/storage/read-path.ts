import type { Answer } from '../../lib/contract/contract.ts'
import type { downloadLink, progress as progressAnswer } from '../../lib/contract/storage/contract-schemas.ts'
import { type OperationHandler, operation } from '../../lib/http/operation.ts'
import { neverStored, ok } from '../../lib/http/reply.ts'
import { firstValue, type Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import type { ObjectInfo } from '../../lib/storage/object-store.ts'
import { readFile, readVersion } from '../../lib/storage/reading/read-file.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { answerFor, expectedRange, replyWith, representationFor } from './file-answer.ts'
import { listTrash } from './list-trash.ts'
import { asDraft, readablePath, scopeOf, timeOf, versionOf } from './params.ts'
import { getMeta } from './read-meta.ts'
import { getRemoval, listDeleted, listVersions } from './read-old.ts'
import { searchFolder } from './search-names.ts'

const getProgress = ({ progress }: StorageDeps) =>
  operation({}, async ({ caller }) =>
    ok<Answer<typeof progressAnswer>>({ value: { percent: await progress.percentOf(caller.hash) } }),
  )

const presentAsDraft = (query: Switches): boolean => {
  if (!query.has('versionId')) return asDraft(query)
  throw storageRefused('A link leads to the present version of a file. Send either link or versionId.')
}

// GET with `?link`: answers a URL that returns the bytes of the file without a token (S-73). Caches may not keep the
// answer.
const getLink = ({ files, linkTo }: StorageDeps) =>
  operation({ params: readablePath, query: presentAsDraft }, async (input) => {
    const { dataCentre, params, query: isDraft } = input
    const { info } = await readFile(files, scopeOf(input, 'read'), params.path, isDraft, () => undefined)
    const { url, expires } = await linkTo(info, dataCentre)
    const value: Answer<typeof downloadLink> = { url, expires: timeOf(expires) }
    return { ...ok({ value }), headers: neverStored }
  })

const listRemoved = (deps: StorageDeps): OperationHandler => {
  const [ofFolder, trash] = [listDeleted(deps), listTrash(deps)]
  return (exchange) => (firstValue(exchange.query, 'deleted') === 'all' ? trash(exchange) : ofFolder(exchange))
}

export const readPath = (deps: StorageDeps): OperationHandler => {
  const file = getFile(deps)
  const others: readonly (readonly [name: string, OperationHandler])[] = [
    ['meta', getMeta(deps)],
    ['link', getLink(deps)],
    ['versions', listVersions(deps)],
    ['search', searchFolder(deps)],
    ['deleted', listRemoved(deps)],
    ['removal', getRemoval(deps)],
  ]
  return (exchange) => {
    const [, asked] = others.find(([name]) => exchange.query.has(name)) ?? []
    return asked ? asked(exchange) : file(exchange)
  }
}

/** At the root, `?status` asks for the progress of an upload (operation 13). The value of `status` may be the token. */
export const readRoot = (deps: StorageDeps): OperationHandler => {
  const progress = getProgress(deps)
  const other = readPath(deps)
  return (exchange) => (exchange.query.has('status') ? progress(exchange) : other(exchange))
}

const stateOf = async (query: Switches) => {
  const { versionId } = await versionOf(query)
  return { isDraft: asDraft(query), versionId }
}

const getFile = ({ files, downloads }: StorageDeps) =>
  operation({ params: readablePath, query: stateOf }, async (request) => {
    const { site, params, query } = request
    const { isDraft, versionId } = query
    const bytesOf = (info: ObjectInfo) => answerFor(info, request, downloads).bytes
    const read =
      versionId === undefined
        ? await readFile(
            files,
            scopeOf(request, 'read'),
            params.path,
            isDraft,
            bytesOf,
            expectedRange(request, downloads),
          )
        : await readVersion(files, site.id, params.path, versionId, bytesOf)
    const { contentType, tag } = representationFor(read.info, request)
    const choice = answerFor(read.info, request, downloads)
    return replyWith(read, choice, { type: contentType, ETag: tag, Vary: 'Accept' }, downloads)
  })
