import type { Answer } from '../../lib/contract/contract.ts'
import type { downloadLink, progress, removalPreview, searchPage } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { reserves } from '../../lib/core/time.ts'
import { type OperationHandler, readSwitches } from '../../lib/http/operation.ts'
import { ok, secret } from '../../lib/http/reply.ts'
import { firstValue, type Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { unknownVersion } from '../../lib/storage/changes/restore.ts'
import { longestListing, type ObjectInfo } from '../../lib/storage/object-store.ts'
import { fileKey, pathIn, root } from '../../lib/storage/path.ts'
import { searchNames } from '../../lib/storage/reading/listing.ts'
import { previewRemoval } from '../../lib/storage/reading/preview-removal.ts'
import { isVisibleFolder, readFile } from '../../lib/storage/reading/read-file.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { answerFor, expectedRange, replyWith, representationFor } from './file-answer.ts'
import { listDeleted, listTrash, listVersions } from './list-kept.ts'
import {
  asDraft,
  describablePath,
  operation,
  readablePath,
  schemaOf,
  scopeOf,
  timeOf,
  usualLimit,
  versionOf,
} from './params.ts'
import { getMeta } from './read-meta.ts'

const getProgress = operation({}, async ({ caller }, deps) =>
  ok<Answer<typeof progress>>({ percent: await deps.progress.percentOf(caller.hash) }),
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
  const expected = expectedRange(request, downloads)
  const read = await (versionId === undefined
    ? readFile(files, scopeOf(request, 'read'), params.path, isDraft, bytesOf, expected)
    : files.readVersion(fileKey('live', site.id, params.path), versionId, bytesOf))
  if (!read) throw unknownVersion()
  const { contentType, tag } = representationFor(read.info, request)
  const choice = answerFor(read.info, request, downloads)
  return replyWith(read, choice, { type: contentType, ETag: tag, Vary: 'Accept' }, downloads)
})

const searchOf = async (query: Switches) => {
  const given = await readSwitches(query, ['search', 'limit', 'cursor'], schemaOf('searchQuery'))
  const { search: text = '', limit = usualLimit, cursor } = given
  return { text, limit: Math.min(limit, longestListing), cursor }
}

/** GET with `?search=TEXT`: finds files and folders below a folder by a part of their names (S-127). */
const searchFolder = operation({ params: describablePath, query: searchOf }, async (input, { files }) => {
  const { params, query, deadline } = input
  const wanted = { ...query, deadline: deadline.reserving(reserves.preview) }
  const scope = scopeOf(input, 'read')
  const { contents, cursor } = await searchNames(files, scope, params.path, wanted)
  const isNothing = contents.length === 0 && query.cursor === undefined && cursor === undefined
  if (isNothing && params.path !== root && !(await isVisibleFolder(files, scope, params.path)))
    throw new ServiceError('fileUnknown')
  return ok<Answer<typeof searchPage>>({
    items: contents.map(({ key, size, modified }) => ({
      path: pathIn(key),
      type: key.endsWith('/') ? 'folder' : 'file',
      size,
      lastUpdateDate: timeOf(modified),
    })),
    ...(cursor !== undefined && { nextCursor: cursor }),
  })
})

const getRemovalPreview = operation({ params: readablePath }, async (input, deps) => {
  const { params, deadline } = input
  const { atLeast, ...preview } = await previewRemoval(deps, scopeOf(input, 'write'), params.path, deadline)
  return ok<Answer<typeof removalPreview>>({ ...preview, ...(atLeast && { atLeast }) })
})

type Operation = OperationHandler<StorageDeps>

const listRemoved: Operation = (exchange, deps) =>
  (firstValue(exchange.query, 'deleted') === 'all' ? listTrash : listDeleted)(exchange, deps)

/** The first switch of this list that a GET has selects its answer. */
const views: readonly (readonly [name: string, Operation])[] = [
  ['meta', getMeta],
  ['link', getLink],
  ['versions', listVersions],
  ['search', searchFolder],
  ['deleted', listRemoved],
  ['removal', getRemovalPreview],
]

export const readSwitchNames = views.map(([name]) => name)

export const readPath: Operation = (exchange, deps) => {
  const [, asked = getFile] = views.find(([name]) => exchange.query.has(name)) ?? []
  return asked(exchange, deps)
}

/** At the root, `?status` asks for the progress of an upload (operation 13). The value of `status` may be the token. */
export const readRoot: Operation = (exchange, deps) =>
  (exchange.query.has('status') ? getProgress : readPath)(exchange, deps)
