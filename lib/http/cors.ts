import type { Reply } from './reply.ts'
import type { Request } from './request.ts'

/** What scripts of other origins may read of answers, beside what browsers always show them (decisions.md, sections 8 and 9). */
const exposed = [
  'Location',
  'ETag',
  'Content-Range',
  'X-Request-Id',
  'Retry-After',
  'Accept-Ranges',
  'Last-Modified',
  'X-Content-Length',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Expires',
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Checksum-Algorithm',
]

/** On every answer: any origin may call, because a token and not a cookie says who calls. */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': exposed.join(', '),
} as const

/** What browsers may send to any path: one that a path does not have is a 405, which they can read then. */
const everyMethod = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const headerNames = /^[\w\-, ]*$/

/** What a preflight that asks for nothing is told. */
const usualHeaders = 'Authorization, Content-Type, If-Match, If-None-Match, Range, Content-MD5, Content-Digest'

/** The answer to `OPTIONS`, given on every path and without a token (decisions.md, section 8). `methods` are those of the path. */
export const preflight = ({ headers }: Request, methods: readonly string[]): Reply => {
  const wanted = headers['access-control-request-headers'] ?? ''
  return {
    status: 204,
    headers: {
      Allow: methods.length > 0 ? methods.join(', ') : everyMethod,
      'Access-Control-Allow-Methods': everyMethod,
      // A wildcard would not cover Authorization, so what the browser asks for is granted by name.
      'Access-Control-Allow-Headers': wanted && headerNames.test(wanted) ? wanted : usualHeaders,
      'Access-Control-Max-Age': '86400',
      Vary: 'Access-Control-Request-Headers',
    },
  }
}
