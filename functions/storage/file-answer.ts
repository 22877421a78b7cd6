import { ServiceError } from '../../lib/core/errors.ts'
import { entityTagOf, isStronglyIn, matches, mediaType, readTags, typedTagOf } from '../../lib/core/headers.ts'
import type { Reply } from '../../lib/http/reply.ts'
import { namesType, noneMatchFails, type RequestedRange, readRange } from '../../lib/http/representation.ts'
import type { Request } from '../../lib/http/request.ts'
import type { Downloads } from '../../lib/service/deps.ts'
import type { ByteRange, ObjectInfo, ReadObject } from '../../lib/storage/object-store.ts'

type Asked = Pick<Request, 'method' | 'headers'>

const anyBytes = 'application/octet-stream'

/**
 * The answer has the type of the file only when `Accept` names this type (S-66, S-67): old clients would parse JSON and
 * run scripts. Each type has its own tag (RFC 9110, section 8.8.3). With one tag for all types, a browser would keep
 * the wrong type after a 304.
 */
export const representationFor = ({ version, contentType }: ObjectInfo, request: Asked) => {
  const own = mediaType(contentType)
  return own !== undefined && own !== anyBytes && namesType(request, own)
    ? { contentType, tag: typedTagOf({ version }) }
    : { contentType: anyBytes, tag: entityTagOf({ version }) }
}

// A stored page must not run in a browser, because its address may contain a token. Caches copy this header from a 304.
const sandbox = "sandbox; default-src 'none'; style-src 'unsafe-inline'"

export type FileAnswer = { readonly bytes?: ByteRange } & (
  | { readonly refusal: ServiceError }
  | { readonly elsewhere: Downloads }
  | { readonly status: 304 }
  | { readonly status: 200 | 206; readonly range: ByteRange }
)

const lastModified = ({ modified }: ObjectInfo): string => new Date(modified).toUTCString()
const lengthOf = ({ first, last }: ByteRange): number => last - first + 1

// A range continues an earlier answer only while the file is unchanged (RFC 9110, section 13.1.5). "A server MUST ignore
// a Range header field received with a request method for which range handling is not defined" (section 14.2).
const rangeFor = (info: ObjectInfo, tag: string, { method, headers }: Asked): RequestedRange => {
  if (method === 'HEAD') return { kind: 'whole' }
  const condition = headers['if-range']
  if (condition !== undefined && condition !== tag && condition !== lastModified(info)) return { kind: 'whole' }
  return readRange(headers['range'], info.size)
}

// One of the three forms of a date has no zone, and means UTC (RFC 9110, section 5.6.7).
const readTime = (date = ''): number => Date.parse(date.endsWith(' GMT') ? date : `${date} GMT`)

/** S-70. A condition with a tag overrides the condition with a time (RFC 9110, section 13.2.2). */
const failedCondition = (info: ObjectInfo, headers: Request['headers']): string | undefined => {
  const match = headers['if-match']
  if (match === undefined) {
    const isLater = readTime(headers['if-unmodified-since']) < readTime(lastModified(info))
    return isLater ? 'If-Unmodified-Since' : undefined
  }
  // The media type in the tag is ignored, because the bytes are the same for each type.
  const tags = readTags(match) ?? []
  return tags === '*' || matches(info.version, tags, isStronglyIn) ? undefined : 'If-Match'
}

/** Compares the times for equality, because a move or a restore may bring an older time back. */
const isKnown = (info: ObjectInfo, tag: string, headers: Request['headers']): boolean => {
  const noneMatch = headers['if-none-match']
  if (noneMatch !== undefined) return noneMatchFails(noneMatch, tag)
  return readTime(headers['if-modified-since']) === readTime(lastModified(info))
}

export const answerFor = (info: ObjectInfo, request: Asked, downloads: Downloads | undefined): FileAnswer => {
  const { method, headers } = request
  const { tag } = representationFor(info, request)
  const failed = failedCondition(info, headers)
  if (failed !== undefined) {
    const message = `${failed} failed: the file has changed. Read it again, then repeat the request.`
    return { refusal: new ServiceError('conditionFailed', { message }) }
  }
  if (isKnown(info, tag, headers)) return { status: 304 }
  const asked = rangeFor(info, tag, request)
  if (asked.kind === 'unsatisfiable') {
    const contentRange = { 'Content-Range': `bytes */${info.size}` }
    return { refusal: new ServiceError('rangeNotSatisfiable', { headers: contentRange }) }
  }
  const isPart = asked.kind === 'part'
  const range = isPart ? asked : { first: 0, last: info.size - 1 }
  if (downloads && method !== 'HEAD' && lengthOf(range) > downloads.largestAnswer) return { elsewhere: downloads }
  return { status: isPart ? 206 : 200, range, ...(method !== 'HEAD' && { bytes: range }) }
}

const oneRange = /^bytes=(\d{1,15}-\d{0,15}|-\d{1,15})$/

/** The range that `answerFor` will most likely choose. Undefined when the answer will probably have no body. */
export const expectedRange = ({ method, headers }: Asked, downloads: Downloads | undefined): string | undefined => {
  const hasCondition = ['if-none-match', 'if-modified-since', 'if-range'].some((name) => headers[name] !== undefined)
  if (method === 'HEAD' || hasCondition) return undefined
  const asked = headers['range']?.replaceAll(' ', '')
  if (asked !== undefined && oneRange.test(asked)) return asked
  return downloads ? `bytes=0-${downloads.largestAnswer - 1}` : 'bytes=0-'
}

const redirect = async (downloads: Downloads, info: ObjectInfo): Promise<Reply> => ({
  status: 302,
  headers: { Location: await downloads.urlOf(info), 'Cache-Control': 'no-store', Vary: 'Accept' },
})

export const replyWith = async (
  { info, body }: ReadObject,
  choice: FileAnswer,
  { type, ...own }: { readonly type: string; readonly ETag: string; readonly [header: string]: string },
  downloads: Downloads | undefined,
): Promise<Reply> => {
  if ('elsewhere' in choice) return redirect(choice.elsewhere, info)
  if ('refusal' in choice) throw choice.refusal
  const headers = {
    'Last-Modified': lastModified(info),
    'Accept-Ranges': 'bytes',
    'Content-Security-Policy': sandbox,
    ...own,
  }
  if (choice.status === 304) return { status: 304, headers: { ...headers, 'Content-Type': type } }
  const { status, range } = choice
  const content = {
    type,
    length: lengthOf(range),
    ...(body && { bytes: body }),
    ...(downloads && { elsewhere: () => redirect(downloads, info) }),
  }
  const contentRange = status === 206 && { 'Content-Range': `bytes ${range.first}-${range.last}/${info.size}` }
  return { status, headers: { ...headers, ...contentRange }, content }
}
