import { entityTag, noneMatchFails } from './conditions.ts'
import { corsHeaders } from './cors.ts'
import type { Exchange } from './exchange.ts'
import { contentTypes, type Format, preferredFormat } from './negotiate.ts'
import type { Document, RenderedReply, Reply } from './reply.ts'
import { writeXml } from './write-xml.ts'

const commonHeaders = {
  ...corsHeaders,
  'Cache-Control': 'private, no-cache',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
} as const

const write = (document: Document, format: Format): string =>
  format === 'json' ? JSON.stringify(document.value) : writeXml(document)

const isRead = (method: string) => method === 'GET' || method === 'HEAD'

/** Puts a reply into its final form: the format that the caller prefers, conditions of a read, the headers of every answer. */
export const renderReply = (
  exchange: Exchange,
  { status, headers, document, content, tag }: Reply,
  formats: readonly [Format, ...Format[]],
): RenderedReply => {
  const format = preferredFormat(exchange, formats) ?? formats[0]
  const current = tag === undefined ? undefined : entityTag(tag, format)
  const unchanged =
    current !== undefined && isRead(exchange.method) && noneMatchFails(exchange.headers['if-none-match'], current)
  const body = document && !unchanged ? write(document, format) : ''
  return {
    status: unchanged ? 304 : status,
    headers: {
      ...commonHeaders,
      'X-Request-Id': exchange.requestId,
      ...(formats.length > 1 && { Vary: 'Accept' }),
      ...(current !== undefined && { ETag: current }),
      ...(body !== '' && { 'Content-Type': contentTypes[format] }),
      ...(content && { 'Content-Type': content.type, 'Content-Length': String(content.length) }),
      ...headers,
    },
    body: content?.stream ?? body,
  }
}
