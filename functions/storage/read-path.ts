import type { Answer } from '../../lib/contract/contract.ts'
import type { downloadLink, progress as progressAnswer } from '../../lib/contract/storage/contract-schemas.ts'
import { entityTagOf, typedTagOf } from '../../lib/core/entity-tags.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { matchFails, noneMatchFails, type RequestedRange, readRange } from '../../lib/http/conditions.ts'
import { type OperationHandler, operation } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import type { Request, Switches } from '../../lib/http/request.ts'
import type { Downloads, StorageDeps } from '../../lib/service/deps.ts'
import type { ByteRange, ObjectInfo } from '../../lib/storage/object-store.ts'
import { readFile, readVersion } from '../../lib/storage/reading/read-file.ts'
import { readResolved } from '../../lib/storage/resolve-path.ts'
import { asDraft, pathOf, readSwitches, schemaOf, timeOf } from './params.ts'
import { getMeta } from './read-meta.ts'
import { getRemoval, listDeleted, listVersions } from './read-old.ts'
import { headersOfBytes, representationFor } from './representation.ts'

const getProgress = ({ progress }: StorageDeps) =>
  operation({ params: pathOf }, async ({ caller }) =>
    ok<Answer<typeof progressAnswer>>({ value: { percent: await progress.percentOf(caller.hash) } }),
  )

const noBytes = () => ({})

const presentAsDraft = (query: Switches): boolean => {
  if (!query.has('versionId')) return asDraft(query)
  throw new ServiceError('storageRefused', {
    message: 'A link is to a file as it is now. Leave versionId out, or read the version with ?versionId alone.',
  })
}

/** GET with `?link`: a URL of the file's bytes that needs no token (S-73). Nobody may cache it. */
const getLink = ({ files, linkTo }: StorageDeps) =>
  operation({ params: pathOf, query: presentAsDraft }, async ({ site, dataCentre, params, query: isDraft }) => {
    const { info } = await readResolved(files, site.id, params.path, (path) =>
      readFile(files, site.id, path, isDraft, noBytes),
    )
    const { url, expires } = await linkTo(info, dataCentre)
    const value: Answer<typeof downloadLink> = { url, expires: timeOf(expires) }
    return { ...ok({ value }), headers: { 'Cache-Control': 'no-store' } }
  })

export const readPath = (deps: StorageDeps): OperationHandler => {
  const file = getFile(deps)
  const others: readonly (readonly [name: string, OperationHandler])[] = [
    ['meta', getMeta(deps)],
    ['link', getLink(deps)],
    ['versions', listVersions(deps)],
    ['deleted', listDeleted(deps)],
    ['removal', getRemoval(deps)],
  ]
  return (exchange) => {
    const [, asked] = others.find(([name]) => exchange.query.has(name)) ?? []
    return asked ? asked(exchange) : file(exchange)
  }
}

/** At the root, `?status` asks for the progress of an upload (operation 13). It may hold the login token. */
export const readRoot = (deps: StorageDeps): OperationHandler => {
  const progress = getProgress(deps)
  const other = readPath(deps)
  return (exchange) => (exchange.query.has('status') ? progress(exchange) : other(exchange))
}

type Headers = Request['headers']

export type FileAnswer =
  | { readonly kind: 'changed'; readonly bytes?: undefined }
  | { readonly kind: 'unchanged'; readonly bytes?: undefined }
  | { readonly kind: 'unsatisfiable'; readonly bytes?: undefined }
  | { readonly kind: 'elsewhere'; readonly downloads: Downloads; readonly bytes?: undefined }
  | {
      readonly kind: 'part' | 'whole'
      readonly range: ByteRange
      readonly bytes: ByteRange | undefined
    }

const lastModified = ({ modified }: ObjectInfo): string => new Date(modified).toUTCString()
const lengthOf = ({ first, last }: ByteRange): number => last - first + 1

// A range continues an earlier answer only while the file is unchanged (RFC 9110, section 13.1.5).
const rangeFor = (info: ObjectInfo, tag: string, headers: Headers): RequestedRange => {
  const condition = headers['if-range']
  if (condition !== undefined && condition !== tag && condition !== lastModified(info)) return { kind: 'whole' }
  return readRange(headers['range'], info.size)
}

/** Without `downloads`, an answer carries files of any size. */
export const answerFor = (
  info: ObjectInfo,
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  downloads: Downloads | undefined,
): FileAnswer => {
  const { tag } = representationFor(info, { headers })
  // Whatever its bytes were called when they were read, they are the same.
  const tags = [entityTagOf(info), typedTagOf(info)]
  if (tags.every((one) => matchFails(headers['if-match'], one))) return { kind: 'changed' }
  if (noneMatchFails(headers['if-none-match'], tag)) return { kind: 'unchanged' }
  const asked = rangeFor(info, tag, headers)
  if (asked.kind === 'unsatisfiable') return { kind: 'unsatisfiable' }
  const range = asked.kind === 'part' ? { first: asked.first, last: asked.last } : { first: 0, last: info.size - 1 }
  if (method === 'HEAD') return { kind: asked.kind, range, bytes: undefined }
  if (downloads && lengthOf(range) > downloads.largestAnswer) return { kind: 'elsewhere', downloads }
  return { kind: asked.kind, range, bytes: range }
}

const oneRange = /^bytes=(\d{1,15}-\d{0,15}|-\d{1,15})$/

// The range that `answerFor` will most likely choose. Undefined when no bytes are likely.
const expectedRange = (
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  downloads: Downloads | undefined,
): string | undefined => {
  const hasCondition = headers['if-none-match'] !== undefined || headers['if-range'] !== undefined
  if (method === 'HEAD' || hasCondition) return undefined
  const asked = headers['range']?.replaceAll(' ', '')
  if (asked !== undefined && oneRange.test(asked)) return asked
  return downloads ? `bytes=0-${downloads.largestAnswer - 1}` : 'bytes=0-'
}

const redirect = async (downloads: Downloads, info: ObjectInfo): Promise<Reply> => ({
  status: 302,
  headers: { Location: await downloads.urlOf(info), 'Cache-Control': 'no-store', Vary: headersOfBytes.Vary },
})

const stateOf = async (query: Switches) => {
  const { versionId } = await readSwitches(query, ['versionId'], schemaOf('versionSwitches'))
  return { isDraft: asDraft(query), versionId }
}

// Reads a file, its draft or an old version, whole or by `Range` (S-66 to S-72). 304 by `If-None-Match`, 412 by
// `If-Match`, 302 when an answer cannot carry the bytes.
const getFile = ({ files, downloads }: StorageDeps) =>
  operation(
    { params: pathOf, query: stateOf },
    async ({ site, params, method, query: { isDraft, versionId }, headers }) => {
      const request = { method, headers }
      const decide = (found: ObjectInfo) => answerFor(found, request, downloads)
      const expected = expectedRange(request, downloads)
      const { info, body, choice } =
        versionId === undefined
          ? await readResolved(files, site.id, params.path, (path) =>
              readFile(files, site.id, path, isDraft, decide, expected),
            )
          : await readVersion(files, site.id, params.path, versionId, decide)
      if (choice.kind === 'elsewhere') return redirect(choice.downloads, info)
      if (choice.kind === 'changed') throw new ServiceError('conditionFailed')
      if (choice.kind === 'unsatisfiable') {
        throw new ServiceError('rangeNotSatisfiable', { headers: { 'Content-Range': `bytes */${info.size}` } })
      }
      const { contentType, tag } = representationFor(info, request)
      const head = { ...headersOfBytes, ETag: tag, 'Last-Modified': lastModified(info), 'Accept-Ranges': 'bytes' }
      if (choice.kind === 'unchanged') return { status: 304, headers: { ...head, 'Content-Type': contentType } }
      const { first, last } = choice.range
      const content = {
        type: contentType,
        length: lengthOf(choice.range),
        ...(body && { bytes: body }),
        ...(downloads && { elsewhere: () => redirect(downloads, info) }),
      }
      if (choice.kind === 'whole') return { status: 200, headers: head, content }
      return { status: 206, headers: { ...head, 'Content-Range': `bytes ${first}-${last}/${info.size}` }, content }
    },
  )
