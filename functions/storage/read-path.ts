import { largestPage, takeThatFit } from '../../lib/answer-size.ts'
import type { Downloads, StorageDeps } from '../../lib/deps.ts'
import { ServiceError } from '../../lib/errors.ts'
import { matchFails, noneMatchFails, type RequestedRange, readRange } from '../../lib/http/conditions.ts'
import { siteUrls } from '../../lib/http/links.ts'
import { type OperationHandler, operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Request } from '../../lib/http/request.ts'
import { describeEntry, type Entry, listFolder } from '../../lib/storage/list-folder.ts'
import type { ByteRange, ObjectInfo } from '../../lib/storage/object-store.ts'
import { encodePath } from '../../lib/storage/path.ts'
import { readFile } from '../../lib/storage/read-file.ts'
import type { Answer } from '../contract.ts'
import type { content, entry as entryAnswer, progress as progressAnswer } from './contract.ts'
import { pathOf, queryValue, readSwitches } from './params.ts'

/** Operation 13: how far the token's newest upload is, in percent; 0 when it has never uploaded. */
const getProgress = ({ progress }: StorageDeps) =>
  operation({ params: pathOf }, async ({ caller }) =>
    ok<Answer<typeof progressAnswer>>({ value: { percent: await progress.percentOf(caller.hash) } }),
  )

/** What a GET of a path asks for, by its query: what it is, or its bytes. */
export const readPath = (deps: StorageDeps): OperationHandler => {
  const meta = getMeta(deps)
  const file = getFile(deps)
  return (exchange) => (exchange.query.has('meta') ? meta(exchange) : file(exchange))
}

/** At the root, `?status` asks for the progress of an upload (operation 13), and may name the login token as well. */
export const readRoot = (deps: StorageDeps): OperationHandler => {
  const progress = getProgress(deps)
  const other = readPath(deps)
  return (exchange) => (exchange.query.has('status') ? progress(exchange) : other(exchange))
}

const listingOf = (query: Request['query']) =>
  readSwitches(
    { limit: queryValue(query, 'limit'), cursor: queryValue(query, 'cursor') },
    async () => (await import('./switches.ts')).listing,
  )

const entryView = ({ name, type, size, modified }: Entry, uri: string): Answer<typeof content> => ({
  name,
  type,
  size,
  lastModified: modified === undefined ? null : new Date(modified).toISOString(),
  links: [{ rel: 'self', uri: type === 'folder' ? `${uri}?meta` : uri }],
})

/** More than an entry has in bytes within an answer, beside its name and the URI of its folder. */
const roughEntry = 256
/** More than a character of a name has: four for a quote as a text within JSON, and nine in the URI. */
const roughCharacter = 13

/** Measures entries only when they might be too many: writing each of them twice would cost as much as all the rest. */
const countThatFit = (entries: readonly Entry[], folderUri: string, view: (entry: Entry) => unknown): number => {
  const characters = entries.reduce((sum, { name }) => sum + name.length, 0)
  const most = entries.length * (roughEntry + folderUri.length) + characters * roughCharacter
  return most <= largestPage ? entries.length : takeThatFit(entries, view, largestPage).taken.length
}

/** GET with `?meta`: what a file or folder is, and what a folder holds, in pages when it is large (decisions.md, section 5, "Read"). */
const getMeta = ({ files }: StorageDeps) =>
  operation({ params: pathOf, query: listingOf }, async ({ site, dataCentre, params: { path }, query }) => {
    const uri = siteUrls(dataCentre, site).storage(encodePath(path))
    const entry = await describeEntry(files, site.id, path)
    const self = entryView(entry, uri)
    if (entry.type === 'file') return ok<Answer<typeof entryAnswer>>({ value: self })
    const view = (child: Entry) => entryView(child, `${uri}/${encodeURIComponent(child.name)}`)
    const { contents, cursor: next } = await listFolder(files, site.id, path, {
      limit: query.limit,
      cursor: query.cursor,
      countThatFit: (entries) => countThatFit(entries, uri, view),
    })
    const value: Answer<typeof entryAnswer> = {
      ...self,
      contents: contents.map(view),
      ...(next !== undefined && { cursor: next }),
    }
    return ok({ value })
  })

type Headers = Request['headers']

/** What is answered to a request for a file. */
export type FileAnswer =
  | { readonly kind: 'changed'; readonly bytes?: undefined }
  | { readonly kind: 'unchanged'; readonly bytes?: undefined }
  | { readonly kind: 'unsatisfiable'; readonly bytes?: undefined }
  | { readonly kind: 'elsewhere'; readonly downloads: Downloads; readonly bytes?: undefined }
  | {
      readonly kind: 'part' | 'whole'
      readonly range: ByteRange
      /** The range where its bytes are sent; a HEAD sends none. */
      readonly bytes: ByteRange | undefined
    }

const tagOf = ({ version }: ObjectInfo): string => `"${version}"`
const lastModified = ({ modified }: ObjectInfo): string => new Date(modified).toUTCString()
const lengthOf = ({ first, last }: ByteRange): number => last - first + 1

/** A range that goes on with an earlier answer is given only while the file is the same (RFC 9110, section 13.1.5). */
const rangeFor = (info: ObjectInfo, headers: Headers): RequestedRange => {
  const condition = headers['if-range']
  if (condition !== undefined && condition !== tagOf(info) && condition !== lastModified(info)) return { kind: 'whole' }
  return readRange(headers['range'], info.size)
}

/**
 * Whether an answer can carry so many bytes as they are. REST APIs decide by `Accept` whether they turn the base64 of a function into
 * bytes: without it, callers would be given the text, by what is measured of API Gateway
 * (https://github.com/localstack/localstack/pull/12199). AWS has not said that the binary media type of everything changes that.
 */
const fits = (length: number, headers: Headers, largestAnswer: number): boolean =>
  length === 0 || (length <= largestAnswer && (headers['accept'] ?? '') !== '')

/**
 * Decides what is answered: that it is another state than `If-Match` names, that nothing has changed, a part, the whole, where else the bytes are, or that there are none in the range.
 * Without `downloads`, an answer carries any file.
 */
export const answerFor = (
  info: ObjectInfo,
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  downloads: Downloads | undefined,
): FileAnswer => {
  if (matchFails(headers['if-match'], tagOf(info))) return { kind: 'changed' }
  if (noneMatchFails(headers['if-none-match'], tagOf(info))) return { kind: 'unchanged' }
  const asked = rangeFor(info, headers)
  if (asked.kind === 'unsatisfiable') return { kind: 'unsatisfiable' }
  const range = asked.kind === 'part' ? { first: asked.first, last: asked.last } : { first: 0, last: info.size - 1 }
  if (method === 'HEAD') return { kind: asked.kind, range, bytes: undefined }
  if (downloads && !fits(lengthOf(range), headers, downloads.largestAnswer)) return { kind: 'elsewhere', downloads }
  return { kind: asked.kind, range, bytes: range }
}

const oneRange = /^bytes=(\d{1,15}-\d{0,15}|-\d{1,15})$/

/**
 * The range that `answerFor` will most likely decide on, before anything is known of the file. Undefined when most likely no bytes are sent:
 * with a condition, the caller has most of them already.
 */
const expectedRange = (
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  downloads: Downloads | undefined,
): string | undefined => {
  const hasCondition = headers['if-none-match'] !== undefined || headers['if-range'] !== undefined
  if (method === 'HEAD' || hasCondition || (downloads && !headers['accept'])) return undefined
  const asked = headers['range']?.replaceAll(' ', '')
  if (asked !== undefined && oneRange.test(asked)) return asked
  return downloads ? `bytes=0-${downloads.largestAnswer - 1}` : 'bytes=0-'
}

/** Other values are ignored: clients use them to get past caches. */
const asDraft = (query: Request['query']): boolean => queryValue(query, 'version') === 'draft'

/**
 * The bytes of a file, or those that `Range` asks for; `?version=draft` the draft of a page, or the live file when there is none
 * (decisions.md, section 5, "Read"). 304 by `If-None-Match`, 412 by `If-Match` (RFC 9110, section 13.1.1); 302 to a URL that expires when an answer cannot carry the bytes.
 */
const getFile = ({ files, downloads }: StorageDeps) =>
  operation({ params: pathOf, query: asDraft }, async ({ site, params, method, query: isDraft, headers }) => {
    const request = { method, headers }
    const decide = (found: ObjectInfo) => answerFor(found, request, downloads)
    const expected = expectedRange(request, downloads)
    const { info, body, choice } = await readFile(files, site.id, params.path, isDraft, decide, expected)
    if (choice.kind === 'elsewhere') {
      return { status: 302, headers: { Location: await choice.downloads.urlOf(info), 'Cache-Control': 'no-store' } }
    }
    if (choice.kind === 'changed') throw new ServiceError('conditionFailed')
    if (choice.kind === 'unsatisfiable') {
      throw new ServiceError('rangeNotSatisfiable', { headers: { 'Content-Range': `bytes */${info.size}` } })
    }
    const validators = { ETag: tagOf(info), 'Last-Modified': lastModified(info), 'Accept-Ranges': 'bytes' }
    if (choice.kind === 'unchanged') {
      return { status: 304, headers: { ...validators, 'Content-Type': info.contentType } }
    }
    const { first, last } = choice.range
    const content = { type: info.contentType, length: lengthOf(choice.range), ...(body && { bytes: body }) }
    if (choice.kind === 'whole') return { status: 200, headers: validators, content }
    return { status: 206, headers: { ...validators, 'Content-Range': `bytes ${first}-${last}/${info.size}` }, content }
  })
