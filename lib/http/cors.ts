import type { Reply } from './reply.ts'
import type { Request } from './request.ts'

/** On every answer: any origin may call, because a token and not a cookie says who calls. */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Location, ETag, X-Request-Id, Retry-After, Content-Range, Accept-Ranges, Last-Modified',
} as const

const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']
const headerNames = /^[\w\-, ]*$/

/** The answer to `OPTIONS`, given on every path and without a token (decisions.md, section 8). */
export const preflight = ({ headers }: Request, methods: readonly string[]): Reply => {
  const wanted = headers['access-control-request-headers'] ?? ''
  const allowed = (methods.length > 0 ? methods : everyMethod).join(', ')
  return {
    status: 204,
    headers: {
      Allow: allowed,
      'Access-Control-Allow-Methods': allowed,
      // A wildcard would not cover Authorization, so what the browser asks for is granted by name.
      'Access-Control-Allow-Headers':
        wanted && headerNames.test(wanted) ? wanted : 'Authorization, Content-Type, If-Match, If-None-Match, Range',
      'Access-Control-Max-Age': '86400',
      Vary: 'Access-Control-Request-Headers',
    },
  }
}
