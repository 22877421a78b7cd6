import { ServiceError } from '../core/errors.ts'
import { failureOf } from '../core/system-failures.ts'
import { byValue, type ContentReply, type DocumentReply, type Reply, type XmlDocument } from './reply.ts'
import { entityTag, mediaTypes, noneMatchFails, preferredFormat, tagOfText } from './representation.ts'
import { type Answer, type Format, type Formats, isRead, type Request } from './request.ts'
import { writeXml } from './write-xml.ts'

// Pages of any origin may call the service, because tokens, not cookies, identify callers. A-31: their scripts may read
// these headers of answers.
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Location, ETag, Content-Range, X-Request-Id, Retry-After, Accept-Ranges, Last-Modified, X-Content-Length, ' +
    'Upload-Offset, Upload-Length, Upload-Defer-Length, Upload-Metadata, Upload-Expires, ' +
    'Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm',
} as const

// Every path allows all methods here, so that scripts can read the 405 of a method that the path lacks.
const everyMethod = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const headerNames = /^[\w\-, ]*$/

const usualHeaders = 'Authorization, Content-Type, If-Match, If-None-Match, Range, Content-MD5, Content-Digest'

export const preflight = ({ headers }: Request, methods: readonly string[]): Reply => {
  const wanted = headers['access-control-request-headers'] ?? ''
  return {
    status: 204,
    headers: {
      Allow: methods.length > 0 ? methods.join(', ') : everyMethod,
      'Access-Control-Allow-Methods': everyMethod,
      // A wildcard would not cover Authorization, so the answer lists the requested headers by name.
      'Access-Control-Allow-Headers': wanted && headerNames.test(wanted) ? wanted : usualHeaders,
      'Access-Control-Max-Age': '86400',
      Vary: 'Access-Control-Request-Headers',
    },
  }
}

const commonHeaders = {
  ...corsHeaders,
  'Cache-Control': 'private, no-cache',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
} as const

type TaggedContent = ContentReply['content'] & { readonly tag?: string | undefined }

// API Gateway declares an answer without a type as `application/json`, and clients then fail to parse the empty body.
const emptyType = 'text/plain'

const writeDocument = ({ document: { value, xml }, tag }: DocumentReply, preferred: Format): TaggedContent => {
  const format = xml ? preferred : 'json'
  const json = format === 'json' || tag === byValue ? JSON.stringify(value) : ''
  const state = tag === byValue ? tagOfText(json) : tag
  return {
    type: `${mediaTypes[format][0]}; charset=utf-8`,
    tag: state === undefined ? undefined : entityTag(state, format),
    bytes: xml && format === 'xml' ? writeXml({ value, xml }) : json,
  }
}

const write = (reply: Reply, format: Format): TaggedContent => {
  if ('document' in reply) return writeDocument(reply, format)
  if ('content' in reply) return { ...reply.content, tag: reply.tag && `"${reply.tag}"` }
  return { type: emptyType }
}

export const renderReply = (request: Request, reply: Reply, formats: Formats): Answer => {
  const format = preferredFormat(request, formats) ?? formats[0]
  const { type, tag, length, bytes: body = '', elsewhere } = write(reply, format)
  const headers: Record<string, string> = { ...commonHeaders, 'X-Request-Id': request.id }
  if (formats.length > 1) headers['Vary'] = 'Accept'
  if (tag !== undefined) headers['ETag'] = tag
  const isKnown = tag !== undefined && isRead(request.method) && noneMatchFails(request.headers['if-none-match'], tag)
  // A 304 repeats the type of the copy that the caller has, because caches store the type of the 304.
  headers['Content-Type'] = type
  if (length !== undefined) {
    headers['Content-Length'] = String(length)
    // API Gateway (REST) renames `Content-Length`, and sends a `Content-Length` of its own only with a body.
    if (request.method === 'HEAD') headers['X-Content-Length'] = String(length)
  }
  Object.assign(headers, reply.headers, request.answerHeaders)
  if (isKnown) return { status: 304, headers, body: '' }
  return {
    status: reply.status,
    headers,
    body,
    ...(elsewhere && { elsewhere: async () => renderReply(request, await elsewhere(), formats) }),
  }
}

const headersByStatus: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': 'Bearer' },
  423: { 'Retry-After': '1' },
  503: { 'Retry-After': '1' },
}

/**
 * O-19: code that loads on demand needs free file handles, for its files and for the package.json that Node looks for.
 * E-4: all other errors become "unexpected". Their details stay in the log.
 */
export const asServiceError = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error
  return new ServiceError(failureOf(error) === 'noHandles' ? 'unavailable' : 'unexpected', { cause: error })
}

export const errorReply = (
  { code, status, message, grantError, problems, headers }: ServiceError,
  requestId: string,
): DocumentReply & { readonly document: XmlDocument } => ({
  status,
  headers: { 'Cache-Control': 'no-store', ...headersByStatus[status], ...headers },
  document: {
    value: {
      code,
      message,
      requestId,
      ...(grantError && { error: grantError }),
      ...(problems.length > 0 && { errors: problems }),
    },
    xml: { root: 'error' },
  },
})
