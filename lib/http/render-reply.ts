import { entityTag, noneMatchFails } from './conditions.ts'
import { corsHeaders } from './cors.ts'
import type { Exchange } from './exchange.ts'
import { contentTypes, type Format, preferredFormat } from './negotiate.ts'
import type { Document, RenderedReply, Reply, Text } from './reply.ts'
import { writeXml } from './write-xml.ts'

const commonHeaders = {
  ...corsHeaders,
  'Cache-Control': 'private, no-cache',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
} as const

const write = (document: Document, format: Format): Text => ({
  type: contentTypes[format],
  body: format === 'json' ? JSON.stringify(document.value) : writeXml(document),
})

const textOf = ({ document, text }: Reply, format: Format): Text | undefined =>
  document ? write(document, format) : text

/** Text has one representation, a document one in each format. */
const currentTag = ({ tag, text }: Reply, format: Format): string | undefined => {
  if (tag === undefined) return undefined
  return text ? `"${tag}"` : entityTag(tag, format)
}

const isRead = (method: string) => method === 'GET' || method === 'HEAD'

/** Puts a reply into its final form: the format that the caller prefers, conditions of a read, the headers of every answer. */
export const renderReply = (
  exchange: Exchange,
  reply: Reply,
  formats: readonly [Format, ...Format[]],
): RenderedReply => {
  const format = preferredFormat(exchange, formats) ?? formats[0]
  const { status, headers, content } = reply
  const current = currentTag(reply, format)
  const unchanged =
    current !== undefined && isRead(exchange.method) && noneMatchFails(exchange.headers['if-none-match'], current)
  const text = unchanged ? undefined : textOf(reply, format)
  return {
    status: unchanged ? 304 : status,
    headers: {
      ...commonHeaders,
      'X-Request-Id': exchange.requestId,
      ...(formats.length > 1 && { Vary: 'Accept' }),
      ...(current !== undefined && { ETag: current }),
      ...(text && { 'Content-Type': text.type }),
      ...(content && { 'Content-Type': content.type, 'Content-Length': String(content.length) }),
      ...headers,
    },
    body: content?.stream ?? text?.body ?? '',
  }
}
