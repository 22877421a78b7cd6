import type { StorageDeps } from '../../lib/deps.ts'
import { ServiceError } from '../../lib/errors.ts'
import { type RequestedRange, readRange } from '../../lib/http/byte-range.ts'
import { noneMatchFails } from '../../lib/http/conditions.ts'
import { operation } from '../../lib/http/operation.ts'
import type { Reply } from '../../lib/http/reply.ts'
import type { Request } from '../../lib/http/request.ts'
import type { ObjectInfo, ReadObject } from '../../lib/storage/object-store.ts'
import { readFile } from '../../lib/storage/read-file.ts'
import { pathOf, queryValue } from './params.ts'

type Headers = Request['headers']

const tagOf = ({ version }: ObjectInfo): string => `"${version}"`
const lastModified = ({ modified }: ObjectInfo): string => new Date(modified).toUTCString()

/** A range that goes on with an earlier answer is given only while the file is the same (RFC 9110, section 13.1.5). */
const rangeFor = (info: ObjectInfo, headers: Headers): RequestedRange => {
  const condition = headers['if-range']
  if (condition !== undefined && condition !== tagOf(info) && condition !== lastModified(info)) return { kind: 'whole' }
  return readRange(headers['range'], info.size)
}

const isUnchanged = (info: ObjectInfo, headers: Headers): boolean =>
  noneMatchFails(headers['if-none-match'], tagOf(info))

/** The bytes that an answer will hold; undefined when it holds none. */
const bytesFor = (info: ObjectInfo, headers: Headers) => {
  if (isUnchanged(info, headers)) return undefined
  const range = rangeFor(info, headers)
  if (range.kind === 'unsatisfiable') return undefined
  return range.kind === 'part' ? range : { first: 0, last: info.size - 1 }
}

const replyTo = ({ info, body }: ReadObject, headers: Headers): Reply => {
  const validators = { ETag: tagOf(info), 'Last-Modified': lastModified(info), 'Accept-Ranges': 'bytes' }
  if (isUnchanged(info, headers)) return { status: 304, headers: validators }
  const range = rangeFor(info, headers)
  if (range.kind === 'unsatisfiable') {
    throw new ServiceError('rangeNotSatisfiable', { headers: { 'Content-Range': `bytes */${info.size}` } })
  }
  const length = range.kind === 'part' ? range.last - range.first + 1 : info.size
  const content = { type: info.contentType, length, ...(body && { bytes: body }) }
  if (range.kind === 'whole') return { status: 200, headers: validators, content }
  const contentRange = `bytes ${range.first}-${range.last}/${info.size}`
  return { status: 206, headers: { ...validators, 'Content-Range': contentRange }, content }
}

/**
 * Whether an answer can carry so many bytes as they are. REST APIs decide by `Accept` whether they turn the base64 of a function into
 * bytes: without it, callers would be given the text, by what is measured of API Gateway
 * (https://github.com/localstack/localstack/pull/12199). AWS has not said that the binary media type of everything changes that.
 */
const fits = (length: number, headers: Headers, largestAnswer: number): boolean =>
  length === 0 || (length <= largestAnswer && (headers['accept'] ?? '') !== '')

/** Other values are ignored: clients use them to get past caches. */
const asDraft = (query: Request['query']): boolean => queryValue(query, 'version') === 'draft'

/**
 * The bytes of a file, or those that `Range` asks for; `?version=draft` the draft of a page, or the live file when there is none
 * (decisions.md, section 5, "Read"). 304 by `If-None-Match`; 302 to a URL that expires when an answer cannot carry the bytes.
 */
export const getFile = ({ files, downloads }: StorageDeps) =>
  operation({ params: pathOf, query: asDraft }, async ({ site, params, method, query: isDraft, headers }) => {
    const isElsewhere = (info: ObjectInfo) => {
      const bytes = bytesFor(info, headers)
      if (!downloads || !bytes || method === 'HEAD') return false
      return !fits(bytes.last - bytes.first + 1, headers, downloads.largestAnswer)
    }
    const object = await readFile(files, site.id, params.path, isDraft, (info) =>
      method === 'HEAD' || isElsewhere(info) ? undefined : bytesFor(info, headers),
    )
    if (downloads && isElsewhere(object.info)) {
      return { status: 302, headers: { Location: await downloads.urlOf(object.info.key), 'Cache-Control': 'no-store' } }
    }
    return replyTo(object, headers)
  })
