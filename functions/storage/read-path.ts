import type { Answer } from '../../lib/contract/contract.ts'
import type { downloadLink, progress as progressAnswer } from '../../lib/contract/storage/contract-schemas.ts'
import type { OperationHandler } from '../../lib/http/operation.ts'
import { ok, secret } from '../../lib/http/reply.ts'
import { firstValue, type Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import type { ObjectInfo } from '../../lib/storage/object-store.ts'
import { readFile, readVersion } from '../../lib/storage/reading/read-file.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { answerFor, expectedRange, replyWith, representationFor } from './file-answer.ts'
import { listTrash } from './list-trash.ts'
import { asDraft, operation, readablePath, scopeOf, timeOf, versionOf } from './params.ts'
import { getMeta } from './read-meta.ts'
import { getRemoval, listDeleted, listVersions } from './read-old.ts'
import { searchFolder } from './search-names.ts'

const getProgress = operation({}, async ({ caller }, { progress }) =>
  ok<Answer<typeof progressAnswer>>({ percent: await progress.percentOf(caller.hash) }),
)

const presentAsDraft = (query: Switches): boolean => {
  if (!query.has('versionId')) return asDraft(query)
  throw storageRefused('A link leads to the current version of a file. Send either link or versionId.')
}

// GET with `?link`: answers a URL that returns the bytes of the file without a token (S-73). Caches may not keep the
// answer.
const getLink = operation({ params: readablePath, query: presentAsDraft }, async (input, { files, linkTo }) => {
  const { dataCentre, params, query: isDraft } = input
  const { info } = await readFile(files, scopeOf(input, 'read'), params.path, isDraft, () => undefined)
  const { url, expires } = await linkTo(info, dataCentre)
  return secret<Answer<typeof downloadLink>>({ url, expires: timeOf(expires) })
})

const stateOf = async (query: Switches) => {
  const { versionId } = await versionOf(query)
  return { isDraft: asDraft(query), versionId }
}

const getFile = operation({ params: readablePath, query: stateOf }, async (request, { files, downloads }) => {
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

type Operation = OperationHandler<StorageDeps>

const listRemoved: Operation = (exchange, deps) =>
  (firstValue(exchange.query, 'deleted') === 'all' ? listTrash : listDeleted)(exchange, deps)

const others: readonly (readonly [name: string, Operation])[] = [
  ['meta', getMeta],
  ['link', getLink],
  ['versions', listVersions],
  ['search', searchFolder],
  ['deleted', listRemoved],
  ['removal', getRemoval],
]

export const readPath: Operation = (exchange, deps) => {
  const [, asked = getFile] = others.find(([name]) => exchange.query.has(name)) ?? []
  return asked(exchange, deps)
}

/** At the root, `?status` asks for the progress of an upload (operation 13). The value of `status` may be the token. */
export const readRoot: Operation = (exchange, deps) =>
  (exchange.query.has('status') ? getProgress : readPath)(exchange, deps)
