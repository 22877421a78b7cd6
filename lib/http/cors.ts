import type { Reply } from './reply.ts'
import type { Request } from './request.ts'

// response headers that scripts of other origins may read.
const exposed =
  'Location, ETag, Content-Range, X-Request-Id, Retry-After, Accept-Ranges, Last-Modified, X-Content-Length, ' +
  'Upload-Offset, Upload-Length, Upload-Defer-Length, Upload-Metadata, Upload-Expires, ' +
  'Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm'

// Pages of any origin may call the service, because tokens, not cookies, identify callers.
export const corsHeaders = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposed } as const

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
