import { ServiceError } from '../core/errors.ts'
import { entityTag, noneMatchFails, tagOfText } from './conditions.ts'
import { corsHeaders } from './cors.ts'
import { contentTypes } from './negotiate.ts'
import { byValue, type DocumentReply, type Reply, type XmlDocument } from './reply.ts'
import { type Answer, type Format, isRead, type Request } from './request.ts'
import { writeXml } from './write-xml.ts'

const commonHeaders = {
  ...corsHeaders,
  'Cache-Control': 'private, no-cache',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
} as const

export interface Presentation {
  readonly format: Format
  readonly varies: boolean
}

interface Representation {
  readonly type: string
  readonly tag: string | undefined
  readonly body: Answer['body']
  readonly length?: number
}

// API Gateway declares an answer without a type as `application/json`, and clients then fail to parse the empty body.
const emptyType = 'text/plain'

const writeDocument = ({ document: { value, xml }, tag }: DocumentReply, preferred: Format): Representation => {
  const format = xml ? preferred : 'json'
  const json = format === 'json' || tag === byValue ? JSON.stringify(value) : ''
  const state = tag === byValue ? tagOfText(json) : tag
  return {
    type: contentTypes[format],
    tag: state === undefined ? undefined : entityTag(state, format),
    body: xml && format === 'xml' ? writeXml({ value, xml }) : json,
  }
}

const write = (reply: Reply, format: Format): Representation => {
  if ('document' in reply) return writeDocument(reply, format)
  if ('content' in reply) {
    const { type, length, bytes = '' } = reply.content
    return { type, tag: undefined, body: bytes, ...(length !== undefined && { length }) }
  }
  if ('text' in reply) {
    const { text, tag } = reply
    return { type: text.type, tag: tag === undefined ? undefined : `"${tag}"`, body: text.body }
  }
  return { type: emptyType, tag: undefined, body: '' }
}

export const renderReply = (request: Request, reply: Reply, presentation: Presentation): Answer => {
  const { format, varies } = presentation
  const { type, tag, body, length } = write(reply, format)
  const headers: Record<string, string> = { ...commonHeaders, 'X-Request-Id': request.id }
  if (varies) headers['Vary'] = 'Accept'
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
  const elsewhere = 'content' in reply ? reply.content.elsewhere : undefined
  return {
    status: reply.status,
    headers,
    body,
    ...(elsewhere && { elsewhere: async () => renderReply(request, await elsewhere(), presentation) }),
  }
}

const headersByStatus: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': 'Bearer' },
  423: { 'Retry-After': '1' },
  503: { 'Retry-After': '1' },
}

/** E-4: all other errors become "unexpected". Their details stay in the log. */
export const asServiceError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('unexpected', { cause: error })

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
